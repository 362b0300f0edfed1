import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from './access/access.ts';
import type { MeteredAccess, MeteredOptions } from './access/metered.ts';
import { newMeteredGate } from './access/node-metered.ts';
import { Gate, type ProtectOptions } from './access/protect.ts';
import { REFUND_WAIT_MS } from './access/refunds.ts';
import { servedHeaders } from './access/served.ts';
import { within } from './api/signals.ts';
import { recordReply } from './responses/responses.ts';

export type { Access } from './access/access.ts';
export type { Metered, MeteredAccess, MeteredOptions, Piece } from './access/metered.ts';
export type { ProtectOptions } from './access/protect.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Access of this request, set by `protect` from `@paylatch/sdk/fastify`. */
    svc?: Access;
    /** Metered access of this answer, set by `protect` with `metered`. */
    metered?: MeteredAccess;
  }
}

/** Hooks of protected routes, as Fastify's route options have them. */
export interface ProtectHooks {
  preHandler(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  onError?(request: FastifyRequest, reply: FastifyReply, error: Error): Promise<void>;
  onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown>;
  onResponse?(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Plugin of Fastify: `app.register(plugin)`. */
export type ProtectPlugin = (app: FastifyInstance) => Promise<void>;

/**
 * Returns route options, as `app.get('/forecast', protect(options), handler)`. Handlers run once per consumed or paid unit, with the access in
 * `request.svc`. Answers 402, 409 and 503 itself. Requests that fail the route's `schema` cost nothing.
 * Refunds if the handler throws an error without a 4xx status or answers 500 or more. The answer waits for the refund, for at most 3 seconds.
 */
export function protect(options: ProtectOptions<FastifyRequest>): ProtectHooks;
/** Sells per piece: return `request.metered.stream(pieces)`. Add `POST /__402/session/deliveries` with these options, for announcements. */
export function protect(options: MeteredOptions): ProtectHooks;
export function protect(options: ProtectOptions<FastifyRequest> | MeteredOptions): ProtectHooks {
  return options.metered ? byThePiece(options) : perUse(options);
}

/** Returns a plugin that protects every route of the scope that registers it. Answers of 404 stay free. */
export function protectRoutes(options: ProtectOptions<FastifyRequest> | MeteredOptions): ProtectPlugin {
  const hooks = Object.entries(options.metered ? byThePiece(options) : perUse(options));
  const plugin: ProtectPlugin = async (app) => {
    for (const [name, hook] of hooks) app.addHook(name as 'preHandler', hook);
  };
  // Fastify then adds the hooks to the scope that registers the plugin instead of a new one.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

const urlOf = (request: FastifyRequest): string => `${request.protocol}://${request.host || 'localhost'}${request.originalUrl}`;

interface Served {
  access: Access;
  paymentResponse: string | null;
  hasFailed: boolean;
}

function perUse(options: ProtectOptions<FastifyRequest>): ProtectHooks {
  const gate = new Gate<FastifyRequest>(options);
  const all = new WeakMap<FastifyRequest, Served>();
  const refundFailure = async (request: FastifyRequest, status: number) => {
    const served = all.get(request);
    if (served && (served.hasFailed || status >= 500)) await gate.refund(served.access, 'handler_failed', request);
  };
  return {
    async preHandler(request, reply) {
      if (request.is404) return;
      const header = (name: string) => request.headers[name.toLowerCase()]?.toString();
      const incoming = { method: request.method, url: urlOf(request), header };
      const { answer, access, paymentResponse, recording } = await gate.admit(incoming, request);
      if (answer)
        return reply
          .code(answer.status)
          .headers(answer.headers)
          .send(answer.body ?? undefined);
      // No client would get the handler's answer: the buyer disconnected during the check, or an earlier hook answered.
      if (reply.raw.destroyed || reply.raw.headersSent || reply.sent) {
        void gate.refund(access, reply.raw.destroyed ? 'buyer_disconnected' : 'already_answered', request);
        return reply.hijack();
      }
      all.set(request, { access, paymentResponse, hasFailed: false });
      request.svc = access;
      // For handlers that write to `reply.raw`, which no later hook sees.
      for (const [name, value] of Object.entries(servedHeaders(presentIn(reply), paymentResponse))) reply.raw.setHeader(name, value);
      if (recording) recordReply(reply.raw, recording);
    },
    async onError(request, reply, error) {
      const served = all.get(request);
      if (served && !isRefusal(reply, error)) served.hasFailed = true;
    },
    async onSend(request, reply, payload) {
      const served = all.get(request);
      if (!served) return payload;
      const answer = payload instanceof Response ? payload : null;
      const status = answer?.status ?? reply.statusCode;
      await within(REFUND_WAIT_MS, refundFailure(request, status));
      const hasFailed = served.hasFailed || status >= 500;
      return withHeaders(reply, payload, servedHeaders(presentIn(reply, answer), served.paymentResponse, hasFailed));
    },
    async onResponse(request, reply) {
      await refundFailure(request, reply.statusCode);
    },
  };
}

/** True for an error with which a handler refuses a request, as `{ statusCode: 404 }`. Fastify reads the status from the same three. */
const isRefusal = (reply: FastifyReply, { statusCode, status }: Error & { statusCode?: number; status?: number }): boolean =>
  [reply.statusCode, statusCode, status].some((one) => one !== undefined && one >= 400 && one < 500);

/** Sells answers per piece. Answers every request without a buyer's open session itself. */
function byThePiece(options: MeteredOptions): ProtectHooks {
  const admit = newMeteredGate(options);
  const all = new WeakMap<FastifyRequest, Record<string, string>>();
  return {
    async preHandler(request, reply) {
      if (request.is404) return;
      const { method, headers: given, body, raw } = request;
      const { answer, access, headers } = await admit({ method, url: urlOf(request), headers: given, body, stream: raw });
      if (answer) return reply.send(answer);
      request.metered = access;
      all.set(request, Object.fromEntries(headers));
    },
    async onSend(request, reply, payload) {
      return withHeaders(reply, payload, all.get(request) ?? {});
    },
  };
}

/** Headers of the answer so far. Those of a returned `Response` replace the reply's. */
const presentIn = (reply: FastifyReply, answer: Response | null = null) => ({
  get: (name: string) => answer?.headers.get(name) ?? reply.getHeader(name)?.toString() ?? null,
});

/** Sets the headers on the reply, or on a copy of a returned `Response`, and returns the payload to send. */
function withHeaders(reply: FastifyReply, payload: unknown, headers: Record<string, string>): unknown {
  if (!(payload instanceof Response)) {
    reply.headers(headers);
    return payload;
  }
  const marked = new Response(payload.body, payload);
  for (const [name, value] of Object.entries(headers)) marked.headers.set(name, value);
  return marked;
}
