import type { Context } from 'hono';
import type { AppEnv } from '#platform/http/openapi.ts';
import { openPage, sendRefusal } from './document.tsx';

/** Answers a person on a path that does not exist; programs are answered JSON. */
export async function sendUnknownPath(c: Context<AppEnv>): Promise<Response> {
  c.set('errorCode', 'not_found');
  return sendRefusal(await openPage(c), 404);
}
