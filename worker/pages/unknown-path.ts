import type { Context } from 'hono';
import type { AppEnv } from '#platform/http/openapi.ts';
import { openPage, sendRefusal } from './document.tsx';

/** Answers 404 as a page for a browser, as JSON otherwise. */
export async function sendUnknownPath(c: Context<AppEnv>): Promise<Response> {
  c.set('errorCode', 'not_found');
  return sendRefusal(await openPage(c), 404);
}
