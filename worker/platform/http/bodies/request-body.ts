import type { Context } from 'hono';
import { ApiError } from '#core/errors.ts';
import type { AppEnv } from '../openapi.ts';
import { findUnacceptable, notUnicodeAt } from './refused-content.ts';

const PLEA = 'The text is probably a private key or seed phrase. Never send one to anyone; move its funds to a new wallet.';

/** Replacement for bytes that are no text. The route's parser refuses it after authentication. */
const NO_JSON = '\ufffd';

/**
 * Reads, parses and caches a JSON body once. Throws 422 validation_error for a private key, a lone surrogate, or a value that the schema
 * cannot compare. Invalid JSON is left for the route to refuse.
 */
export async function readJsonBody(c: Context<AppEnv>): Promise<void> {
  cacheText(c, textOf(await c.req.arrayBuffer()) ?? NO_JSON);
  const body = await c.req.json<unknown>().catch(() => undefined);
  const found = await findUnacceptable(body);
  if (found === 'secret_refused') throw new ApiError('validation_error', { problems: [{ loc: ['body'], msg: PLEA, type: found }] });
  if (found === 'not_unicode') {
    const loc = ['body', ...notUnicodeAt(body)];
    throw new ApiError('validation_error', { problems: [{ loc, msg: 'Expected text without a lone surrogate', type: found }] });
  }
  if (found === 'not_comparable') {
    const msg = 'Expected `length` and `size` to be plain values';
    throw new ApiError('validation_error', { problems: [{ loc: ['body'], msg, type: 'invalid_type' }] });
  }
  c.set('body', body);
}

/** Returns the text at a path of the body, before the body is validated, for the key of a rate limit. Empty without one. */
export async function readText(c: Pick<Context<AppEnv>, 'req'>, ...path: string[]): Promise<string> {
  let value: unknown = await c.req.json().catch(() => null);
  for (const name of path) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** Discards the body. The route answers with `refusal` after authentication. */
export function refuseBody(c: Context<AppEnv>, refusal: ApiError): void {
  cacheText(c, NO_JSON);
  c.set('bodyRefusal', refusal);
}

const cacheText = (c: Context<AppEnv>, text: string) => Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes JSON text: UTF-8 without byte order mark (RFC 8259 section 8.1). Null for anything else. */
export function textOf(bytes: ArrayBuffer): string | null {
  try {
    const text = decoder.decode(bytes);
    return text.startsWith('\ufeff') ? null : text;
  } catch {
    return null;
  }
}
