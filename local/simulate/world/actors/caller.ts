import { readPublished } from '../../book/document.ts';
import type { History } from '../../book/history.ts';
import type { Answer, Body, Host } from '../../book/host.ts';
import type { Dice } from '../outside/dice.ts';

export interface Request {
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

const TRIES = 5;
const TRIES_AFTER_FAULTS = 30;
const WAIT_MS = 5_000;
/** Part of the creating requests that a caller repeats under their key. */
const REPEATED = 0.06;
const UNDECIDED = ['idempotency_in_progress', 'idempotency_race'];

/** Client of the service, with an address of its own. It checks every answer against the document. */
export class Caller {
  readonly name: string;
  readonly host: Host;
  readonly history: History;
  readonly dice: Dice;
  readonly #address: string;

  constructor(name: string, { host, history, dice }: { host: Host; history: History; dice: Dice }) {
    this.name = name;
    this.host = host;
    this.history = history;
    this.dice = dice;
    this.#address = `10.${dice.below(256)}.${dice.below(256)}.${dice.below(256)}`;
  }

  note(words: string): void {
    this.history.note(this.name, words);
  }

  /** Sends one request. Returns null if the connection was lost. */
  async call(method: string, path: string, { key, body, headers = {} }: Request = {}): Promise<Answer | null> {
    const credential: Record<string, string> = !key
      ? {}
      : key.startsWith('svc_')
        ? { 'X-Svc-Key': key }
        : { Authorization: `Bearer ${key}` };
    const sent = { 'cf-connecting-ip': this.#address, ...credential, ...headers };
    const asked = body === undefined ? { headers: sent } : { body, headers: { 'content-type': 'application/json', ...sent } };
    const answer = await this.host.call(method, path, asked).catch((error: Error) => ({ lost: error }));
    const isTroubled = this.history.isTroubled();
    if ('lost' in answer) {
      if (!isTroubled) this.history.find(`${method} ${path} had no answer and no fault: ${answer.lost.message}`);
      return null;
    }
    const isOfNodes = this.history.areNodesSpoiled && answer.body?.code === 'rpc_unavailable';
    if (answer.status >= 500 && !isTroubled && !isOfNodes)
      this.history.find(`${method} ${path} answered ${answer.status} without a fault: ${JSON.stringify(answer.body)}`);
    const pathname = path.split('?')[0]!;
    for (const problem of readPublished(this.host.document).check(method, pathname, answer.status, answer.body)) this.history.find(problem);
    return answer;
  }

  read(path: string, key?: string): Promise<Answer | null> {
    return this.persist('GET', path, { key: key ?? null });
  }

  /** Repeats a request under one Idempotency-Key until an answer decides it, as an SDK does. Returns null if none did. */
  async persist(method: string, path: string, request: Request = {}, tries = TRIES): Promise<Answer | null> {
    const headers = method === 'GET' ? request.headers : { 'Idempotency-Key': this.dice.key(), ...request.headers };
    for (let attempt = 1; attempt <= tries; attempt++) {
      const answer = await this.call(method, path, { ...request, ...(headers ? { headers } : {}) });
      if (answer !== null && isDecided(answer)) {
        if (answer.status === 201 && this.dice.chance(REPEATED))
          await this.#repeat(method, path, { ...request, ...(headers ? { headers } : {}) }, answer);
        return answer;
      }
      if (attempt < tries) await this.host.advance(WAIT_MS);
    }
    return null;
  }

  /** Sends a request again under its Idempotency-Key. It must create nothing more: what was created is answered again. */
  async #repeat(method: string, path: string, request: Request, { body }: Answer): Promise<void> {
    const again = await this.call(method, path, request);
    if (again?.status !== 201 || JSON.stringify(again.body) === JSON.stringify(body)) return;
    this.history.find(
      `${method} ${path} repeated under its key created something else: ${JSON.stringify(again.body)}, before ${JSON.stringify(body)}`,
    );
  }

  /** Writes until decided. If no try decides, the write is repeated under its key once the faults have stopped. `then` runs once. */
  async write(path: string, request: Request, then: (answer: Answer) => void | Promise<void>): Promise<Answer | null> {
    const repeatable = { ...request, headers: { 'Idempotency-Key': this.dice.key(), ...request.headers } };
    const answer = await this.persist('POST', path, repeatable);
    if (answer !== null) {
      await then(answer);
      return answer;
    }
    this.history.unanswered.push(async () => {
      const late = await this.persist('POST', path, repeatable, TRIES_AFTER_FAULTS);
      if (late !== null) await then(late);
      else this.history.find(`POST ${path} was never decided, also after the faults had stopped`);
      return late !== null;
    });
    return null;
  }

  /** Reads every page of a list. Null if a page could not be read. */
  async list(path: string, key: string): Promise<Body[] | null> {
    const items: Body[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.read(`${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`, key);
      if (answer?.status !== 200) return null;
      items.push(...answer.body.items);
      if (!answer.body.has_more) return items;
    }
  }
}

function isDecided({ status, body }: Answer): boolean {
  if (status === 202) return body?.error_reason !== 'settlement_pending';
  // Waiting does not help against a quota.
  const isLimited = status === 429 && body?.code !== 'plan_limit_reached';
  return status < 500 && !isLimited && !UNDECIDED.includes(body?.code);
}
