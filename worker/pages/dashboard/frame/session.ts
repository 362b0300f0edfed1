import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { base64url } from '#core/encoding.ts';
import { HOUR, SECOND } from '#core/time.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { SESSION_COOKIE, sessionCookieOf } from '#rules/access/sessions.ts';
import { Operations } from './operations.ts';

/** Time before the end of a token from which a page renews it. */
const RENEW_MS = 12 * HOUR;

export function storeToken(c: Context<AppEnv>, token: string): void {
  c.header('Set-Cookie', sessionCookieOf(token), { append: true });
}

/** Ends the browser's session, and what it has not read yet. */
export function dropToken(c: Context<AppEnv>): void {
  deleteCookie(c, SESSION_COOKIE, { path: '/', secure: true });
  deleteCookie(c, SAID, SAID_OPTIONS);
}

const SAID = 'svc_said';
const SAID_OPTIONS = { prefix: 'host', path: '/', secure: true } as const;
const SAID_S = 60;

/** Has the next screen show a sentence about the form that was just sent. */
export const saySoon = (c: Context<AppEnv>, sentence: string): void =>
  setCookie(c, SAID, sentence, { ...SAID_OPTIONS, httpOnly: true, sameSite: 'Lax', maxAge: SAID_S });

/** Sentence about the form that was sent before, once. */
export function takeSaid(c: Context<AppEnv>): string | undefined {
  const said = getCookie(c, SAID, 'host');
  if (said === undefined || c.req.method !== 'GET') return undefined;
  deleteCookie(c, SAID, SAID_OPTIONS);
  return said;
}

export interface Claims {
  sub: string;
  /** Session of the token. A renewed token, or one for another account, has the same. */
  sid?: string;
  acc?: string;
  exp: number;
  auth_time?: number;
  factor_time?: number;
}

/** Reads the claims of a token without a check. Each call of the page checks the token. */
export function claimsOf(token: string): Claims | null {
  try {
    return JSON.parse(new TextDecoder().decode(base64url.decode(token.split('.')[1] ?? ''))) as Claims;
  } catch {
    return null;
  }
}

export const readToken = (c: Context<AppEnv>): string | null => getCookie(c, SESSION_COOKIE) ?? null;

/** Opens the session of the cookie and renews a token that ends soon. Null without a session. */
export async function openSession(c: Context<AppEnv>): Promise<{ operations: Operations; claims: Claims } | null> {
  const token = readToken(c);
  const claims = token === null ? null : claimsOf(token);
  if (token === null || claims === null) return null;
  const operations = new Operations(c, token);
  if (claims.exp * SECOND - c.var.ctx.wallNow >= RENEW_MS) return { operations, claims };
  // The page does not list this call.
  const renewed = await new Operations(c, token).call<{ token: string }>('refreshToken');
  if (!renewed.ok) return null;
  operations.token = renewed.value.token;
  storeToken(c, renewed.value.token);
  return { operations, claims: claimsOf(renewed.value.token) ?? claims };
}
