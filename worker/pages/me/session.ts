import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { SECOND } from '#core/time.ts';
import type { AppEnv } from '#platform/http/openapi.ts';

const NAME = 'svc_buyer';

/** Token of a buyer, as the API issues it. */
export interface BuyerToken {
  token: string;
  expires_at: string;
  flow?: 'cancel' | 'receipts';
}

export function storeBuyer(c: Context<AppEnv>, { token, expires_at }: BuyerToken): void {
  const maxAge = Math.max(0, Math.floor((Date.parse(expires_at) - c.var.ctx.wallNow) / SECOND));
  setCookie(c, NAME, token, { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax', maxAge });
}

export function dropBuyer(c: Context<AppEnv>): void {
  deleteCookie(c, NAME, { prefix: 'host', path: '/', secure: true });
}

export const readBuyer = (c: Context<AppEnv>): string | null => getCookie(c, NAME, 'host') ?? null;
