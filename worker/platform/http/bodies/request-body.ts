import type { Context } from 'hono';
import { ApiError } from '#core/errors.ts';
import type { AppEnv } from '../openapi.ts';
import { findUnacceptable, notUnicodeAt } from './refused-content.ts';

const PLEA = 'The text is probably a private key or seed phrase. Never send one to anyone; move its funds to a new wallet.';

/** Stands for bytes that are no text, so that the route's own parser refuses them, after it has looked at who calls. */
const NO_JSON = '\ufffd';

/**
 * Reads a JSON body as text once, for all who ask, and keeps it parsed. 422 validation_error where it holds a private key or half a
 * character. What is not JSON is for the route to refuse.
 */
export async function readJsonBody(c: Context<AppEnv>): Promise<void> {
  keepText(c, textOf(await c.req.arrayBuffer()) ?? NO_JSON);
  const body = await c.req.json<unknown>().catch(() => undefined);
  const found = findUnacceptable(body);
  if (found === 'secret_refused') throw new ApiError('validation_error', { problems: [{ loc: ['body'], msg: PLEA, type: found }] });
  if (found === 'not_unicode') {
    const loc = ['body', ...notUnicodeAt(body)];
    throw new ApiError('validation_error', { problems: [{ loc, msg: 'Expected text without a lone surrogate', type: found }] });
  }
  c.set('body', body);
}

/** Nothing reads this body any more: the route answers with `refusal` once it has looked at who calls. */
export function refuseBody(c: Context<AppEnv>, refusal: ApiError): void {
  keepText(c, NO_JSON);
  c.set('bodyRefusal', refusal);
}

const keepText = (c: Context<AppEnv>, text: string) => Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** JSON is UTF-8 without a byte order mark (RFC 8259 section 8.1); null for anything else. */
export function textOf(bytes: ArrayBuffer): string | null {
  try {
    const text = decoder.decode(bytes);
    return text.startsWith('\ufeff') ? null : text;
  } catch {
    return null;
  }
}
