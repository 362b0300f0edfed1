import type { Client } from './api/client.ts';
import { isSvcError } from './errors/svc-error.ts';

export interface DiscoveryOptions {
  client: Client;
  /** Origin of the shop, as the x402 rail names it, such as `https://api.shop.com`. */
  origin: string;
}

/** Answer of `GET /openapi.json`, in a form that every framework can send. */
export interface DocumentAnswer {
  status: 200 | 404 | 503;
  headers: Record<string, string>;
  body: string;
}

const CACHED_MS = 60_000;
const SHARED = { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' };
const UNLISTED: DocumentAnswer = {
  status: 404,
  headers: { ...SHARED, 'Cache-Control': 'no-store' },
  body: JSON.stringify({ error: 'No route of this origin is listed.' }),
};
const UNAVAILABLE: DocumentAnswer = {
  status: 503,
  headers: { ...SHARED, 'Cache-Control': 'no-store', 'Retry-After': '10' },
  body: JSON.stringify({ error: 'The document is unavailable. Retry in a few seconds.' }),
};

/**
 * Returns a function that answers with the OpenAPI document of the shop's listed routes. Asks the service once in 60 seconds. During an
 * outage it repeats the document that it has, else it answers 503.
 */
export function documentOf({ client, origin }: DiscoveryOptions): () => Promise<DocumentAnswer> {
  let current: { answer: DocumentAnswer; until: number } | null = null;
  let pending: Promise<DocumentAnswer> | null = null;

  const read = async (): Promise<DocumentAnswer> => {
    try {
      const document = await client.catalogue.getShopDocument({ origin });
      return { status: 200, headers: { ...SHARED, 'Cache-Control': 'public, max-age=60' }, body: JSON.stringify(document) };
    } catch (error) {
      if (isSvcError(error) && error.status === 404) return UNLISTED;
      return current?.answer.status === 200 ? current.answer : UNAVAILABLE;
    }
  };
  const refresh = async (): Promise<DocumentAnswer> => {
    const answer = await read();
    if (answer !== UNAVAILABLE) current = { answer, until: Date.now() + CACHED_MS };
    return answer;
  };
  return async () => {
    if (current && Date.now() < current.until) return current.answer;
    pending ??= refresh().finally(() => {
      pending = null;
    });
    return pending;
  };
}
