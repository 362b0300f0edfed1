import type { Context } from 'hono';
import { csrf } from 'hono/csrf';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { AppEnv } from '#platform/http/openapi.ts';

const check = csrf();

/** Refuses a form that another site, or no page at all, sent. `refuse` makes the page of the refusal. */
export const fromOwnPage = (refuse: (c: Context<AppEnv>) => Promise<Response>) =>
  createMiddleware<AppEnv>(async (c, next) => {
    try {
      await check(c, async () => {});
    } catch (error) {
      if (!(error instanceof HTTPException)) throw error;
      return refuse(c);
    }
    return next();
  });

/** Fields of a form. Files and repeated fields are ignored. Throws 413 payload_too_large. */
export async function readForm(c: Context<AppEnv>): Promise<Record<string, string>> {
  if (c.var.bodyRefusal) throw c.var.bodyRefusal;
  const fields = await c.req.parseBody();
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === 'string'));
}
