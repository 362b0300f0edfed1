import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ApiError, ERRORS, objectAway, storyOf } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import { type AppEnv, docsUrl } from './openapi.ts';

/**
 * Whatever was thrown, as the one error shape. A bug keeps its story for the log and tells the caller only the request id. There is no
 * context yet where the configuration is not sound.
 */
export function onError(error: Error, c: Context<AppEnv>): Response {
  const failure = toApiError(error, c);
  const baseUrl = (c.var.ctx as Ctx | undefined)?.baseUrl ?? new URL(c.req.url).origin;
  const { options, code } = failure;
  c.set('errorCode', code);
  for (const [name, value] of Object.entries(options.headers ?? {})) c.header(name, value);
  if (options.retryAfterSeconds !== undefined) c.header('Retry-After', String(Math.max(1, Math.ceil(options.retryAfterSeconds))));
  return c.json(
    {
      detail: options.problems ?? failure.message,
      code,
      request_id: c.var.requestId,
      docs_url: docsUrl(baseUrl, code),
      retryable: options.retryable ?? ERRORS[code].retryable,
      meta: options.meta ?? {},
    },
    failure.status,
  );
}

/** The platform marks what it could not bring to an object, or what an object that is restarted or overloaded did not answer. */
const isObjectAway = (error: Error & { retryable?: boolean; overloaded?: boolean }): boolean =>
  error.retryable === true || error.overloaded === true;

/** What a request has no time left for is told as that, whatever it was waiting for. */
const isOutOfTime = ({ status, code }: ApiError, c: Context<AppEnv>): boolean =>
  status === 503 && ERRORS[code].retryable && c.var.ctx.leftMs() === 0;

function toApiError(error: Error, c: Context<AppEnv>): ApiError {
  if (error instanceof ApiError) return isOutOfTime(error, c) ? new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 }) : error;
  if (error instanceof HTTPException && error.status === 400) {
    return new ApiError('validation_error', { problems: [{ loc: ['body'], msg: 'The body is not valid JSON', type: 'json_invalid' }] });
  }
  // A body of no bytes in another form than JSON gets as far as the route's own parser.
  if (error instanceof HTTPException && error.status === 415) return new ApiError('unsupported_media_type');
  const story = storyOf(error);
  c.var.ctx.note(story);
  // The database or an object out of reach is no bug: the caller may simply come back.
  if (isObjectAway(error)) return objectAway(error);
  if (/D1_ERROR|Failed query/.test(story)) return new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  return new ApiError('internal_error');
}
