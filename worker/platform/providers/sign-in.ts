import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';

/** The provider does not answer, refuses, or says what cannot be believed. The message is for the log, and holds nothing it sent. */
export class ProviderAway extends Error {}

/** A provider is asked no longer than this for one answer. */
const PATIENCE_MS = 5 * SECOND;
/** Answers are small; what is longer is not read. */
const ANSWER_MAX = 256 * 1024;

/** A JSON answer of a provider. Redirects are not followed: a code or a secret goes nowhere but to the address that is configured. */
export async function askProvider(ctx: Ctx, url: string, init: RequestInit = {}): Promise<unknown> {
  const signal = AbortSignal.timeout(Math.max(1, Math.min(PATIENCE_MS, ctx.leftMs())));
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const text = await response.text();
    if (!response.ok || text.length > ANSWER_MAX) throw new ProviderAway(`${new URL(url).host} answered ${response.status}`);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof ProviderAway) throw error;
    throw new ProviderAway(`${new URL(url).host}: ${error instanceof Error ? error.name : 'no answer'}`);
  }
}

/** A form with the client's secret, to the token endpoint. */
export const askForToken = (ctx: Ctx, url: string, fields: Record<string, string>): Promise<unknown> =>
  askProvider(ctx, url, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });

export const withQuery = (url: string, query: Record<string, string>): string => {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(query)) whole.searchParams.set(name, value);
  return whole.href;
};
