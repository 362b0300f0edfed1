import { readPublished } from './document.ts';
import type { Body, Host } from './host.ts';

const PAGE = 100;

/** Reads the service for the judge, and notes what contradicts the book. */
export class Reader {
  readonly host: Host;
  readonly findings: string[] = [];

  constructor(host: Host) {
    this.host = host;
  }

  find(sentence: string): void {
    this.findings.push(sentence);
  }

  expect(isTrue: boolean, sentence: () => string): void {
    if (!isTrue) this.find(sentence());
  }

  /** Returns the body of a 200. Null, and a finding, for anything else. */
  async get(path: string, key?: string): Promise<Body | null> {
    const headers: Record<string, string> = key === undefined ? {} : { 'X-Svc-Key': key };
    const answer = await this.host.call('GET', path, { headers }).catch((error: Error) => error);
    if (answer instanceof Error) {
      this.find(`GET ${path} had no answer after the faults: ${answer.message}`);
      return null;
    }
    const { status, body } = answer;
    for (const problem of readPublished(this.host.document).check('GET', path.split('?')[0]!, status, body)) this.find(problem);
    if (status === 200) return body;
    this.find(`GET ${path} answered ${status} after the faults: ${JSON.stringify(body)}`);
    return null;
  }

  async list(path: string, key: string): Promise<Body[]> {
    const items: Body[] = [];
    for (let page = 1; ; page++) {
      const body = await this.get(`${path}${path.includes('?') ? '&' : '?'}per_page=${PAGE}&page=${page}`, key);
      items.push(...(body?.items ?? []));
      if (!body?.has_more) return items;
    }
  }

  async count(sql: string, ...values: unknown[]): Promise<number> {
    const rows = (await this.host.rows(sql, ...values)) as Record<string, number>[];
    return Number(Object.values(rows[0] ?? { n: 0 })[0]);
  }
}

export const unitsOf = (money: { base_units: string } | undefined): bigint => BigInt(money?.base_units ?? 0);

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** Returns the values that occur more than once. */
export function repeated<T>(values: readonly T[]): T[] {
  const seen = new Set<T>();
  return values.filter((value) => seen.has(value) || !seen.add(value));
}
