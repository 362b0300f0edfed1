import { createMiddleware } from 'hono/factory';
import type { ApiError } from '#core/errors.ts';

/**
 * The last guard of a route, once it knows who calls: says what is wrong with the body. Browsers' wrappers announce JSON even where they send
 * nothing; nothing is what an optional body may be.
 */
export const readBody = ({ isOptional }: { isOptional: boolean }) =>
  createMiddleware<{ Variables: { bodyRefusal: ApiError | undefined } }>(async (c, next) => {
    if (c.var.bodyRefusal) throw c.var.bodyRefusal;
    const announces = c.req.header('Content-Type') !== undefined;
    if (isOptional && announces && (await c.req.text()).trim() === '') Object.assign(c.req.bodyCache, { text: Promise.resolve('{}') });
    await next();
  });
