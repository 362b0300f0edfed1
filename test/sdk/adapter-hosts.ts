import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { protect as protectExpress } from '../../sdk/src/express.ts';
import { protect as protectFastify } from '../../sdk/src/fastify.ts';
import { type Access, type ProtectOptions, protect as protectFetch } from '../../sdk/src/fetch.ts';
import { protect as protectHono, type SvcEnv } from '../../sdk/src/hono.ts';
import { protect as protectNext } from '../../sdk/src/next.ts';

/** Options without functions of the framework's request. */
export type SharedOptions = ProtectOptions<unknown>;

export interface HandlerAnswer {
  status: number;
  body: string | AsyncIterable<string>;
}

/** Serves `GET /forecast` by one framework. */
export type Host = (options: SharedOptions, handle: (access: Access) => Promise<HandlerAnswer>) => Promise<Server>;

export async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const toBytes = (body: AsyncIterable<string>) => ReadableStream.from<string>(body).pipeThrough(new TextEncoderStream());
const toResponse = ({ status, body }: HandlerAnswer) => new Response(typeof body === 'string' ? body : toBytes(body), { status });

/** Answers 500 for a handler that throws, as servers of web requests do. */
function listenerOf(serve: (request: Request) => Promise<Response>): RequestListener {
  const guarded = (request: Request) => serve(request).catch(() => new Response('oops', { status: 500 }));
  return getRequestListener(guarded, { overrideGlobalObjects: false });
}

export const hosts: Record<string, Host> = {
  fetch: async (options, handle) => {
    return listen(listenerOf(protectFetch(options, async (_request, access) => toResponse(await handle(access)))));
  },

  hono: async (options, handle) => {
    const app = new Hono<SvcEnv>();
    app.get('/forecast', protectHono(options), async (c) => toResponse(await handle(c.get('svc'))));
    app.onError((_error, c) => c.text('oops', 500));
    return listen(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  },

  express: async (options, handle) => {
    const app = express();
    app.get('/forecast', protectExpress(options), async (req, res) => {
      const { status, body } = await handle(req.svc!);
      res.status(status);
      if (typeof body === 'string') return void res.send(body);
      for await (const part of body) res.write(part);
      res.end();
    });
    // Prevents Express from printing the errors of handlers.
    app.use(((_error, _req, res, _next) => {
      if (res.headersSent) res.destroy();
      else res.status(500).send('oops');
    }) as express.ErrorRequestHandler);
    return listen(app);
  },

  fastify: async (options, handle) => {
    const app = fastify();
    app.get('/forecast', protectFastify(options), async (request, reply) => {
      const { status, body } = await handle(request.svc!);
      return reply.code(status).send(typeof body === 'string' ? body : Readable.from(body));
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },

  next: async (options, handle) => {
    const GET = protectNext(options, async (_request, access, { params }: { params: Promise<{ city: string }> }) => {
      await params;
      return toResponse(await handle(access));
    });
    // Next.js calls GET for HEAD too, and sends the answer without its body.
    return listen(listenerOf((request) => GET(request, { params: Promise.resolve({ city: 'Oslo' }) })));
  },
};
