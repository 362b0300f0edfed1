import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';

/** The provider failed, refused or sent an implausible answer. The message is for the log and contains nothing the provider sent. */
export class ProviderAway extends Error {}

const PATIENCE_MS = 5 * SECOND;
const ANSWER_MAX = 256 * 1024;

/** Fetches JSON from a provider, without redirects, so that codes and secrets go only to the configured URL. */
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

export const askForToken = (ctx: Ctx, url: string, fields: Record<string, string>): Promise<unknown> =>
  askProvider(ctx, url, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });

export const withQuery = (url: string, query: Record<string, string>): string => {
  const fullUrl = new URL(url);
  for (const [name, value] of Object.entries(query)) fullUrl.searchParams.set(name, value);
  return fullUrl.href;
};
