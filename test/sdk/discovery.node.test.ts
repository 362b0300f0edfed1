import type { Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type DiscoveryOptions, discovery as discoveryExpress } from '../../sdk/src/express.ts';
import { discovery as discoveryFetch } from '../../sdk/src/fetch.ts';
import { discovery as discoveryHono } from '../../sdk/src/hono.ts';
import { createClient } from '../../sdk/src/index.ts';
import { listen, urlOf } from './adapter-hosts.ts';

const ORIGIN = 'https://api.shop.example';
const DOCUMENT = { openapi: '3.1.0', info: { title: 'Shop', version: '1.0.0' }, paths: {} };

const hosts: Record<string, (options: DiscoveryOptions) => Promise<Server>> = {
  fetch: (options) => listen(getRequestListener(discoveryFetch(options), { overrideGlobalObjects: false })),
  hono: (options) => {
    const app = new Hono();
    app.get('/openapi.json', discoveryHono(options));
    return listen(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  },
  express: (options) => listen(express().get('/openapi.json', discoveryExpress(options))),
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  vi.restoreAllMocks();
});

async function openShop(host: (options: DiscoveryOptions) => Promise<Server>) {
  const asked: string[] = [];
  const state = { answer: async (): Promise<Response> => Response.json(DOCUMENT) };
  const send = (request: Request) => {
    asked.push(request.url);
    return state.answer();
  };
  const server = await host({ client: createClient({ baseUrl: 'https://svc.test', fetch: send, maxRetries: 0 }), origin: ORIGIN });
  servers.push(server);
  const read = () => fetch(`${urlOf(server)}/openapi.json`);
  return { asked, state, read };
}

const notFound = async () => Response.json({ code: 'not_found', detail: 'Not found', retryable: false }, { status: 404 });
const outage = async () => {
  throw new TypeError('connection refused');
};
const passSeconds = (seconds: number) => {
  const now = Date.now() + seconds * 1_000;
  vi.spyOn(Date, 'now').mockReturnValue(now);
};

describe.each(Object.entries(hosts))('discovery for %s', (_name, host) => {
  it('GET /openapi.json is the document of the shop, open to every origin', async () => {
    const { read, asked } = await openShop(host);
    const answer = await read();
    expect([answer.status, await answer.json()]).toEqual([200, DOCUMENT]);
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/json\b/);
    expect([answer.headers.get('Cache-Control'), answer.headers.get('Access-Control-Allow-Origin')]).toEqual(['public, max-age=60', '*']);
    expect(asked).toEqual([`https://svc.test/v1/access/x402/openapi?origin=${encodeURIComponent(ORIGIN)}`]);
  });

  it('the service is asked once for many readers, and again after 60 seconds', async () => {
    const { read, asked, state } = await openShop(host);
    const answers = await Promise.all([read(), read(), read()]);
    expect([answers.map(({ status }) => status), asked.length]).toEqual([[200, 200, 200], 1]);
    passSeconds(59);
    await read();
    expect(asked.length).toBe(1);
    vi.restoreAllMocks();
    state.answer = async () => Response.json({ ...DOCUMENT, paths: { '/new': {} } });
    passSeconds(61);
    expect(await (await read()).json()).toMatchObject({ paths: { '/new': {} } });
    expect(asked.length).toBe(2);
  });

  it('an origin without listed routes is answered 404', async () => {
    const { read, state } = await openShop(host);
    state.answer = notFound;
    const answer = await read();
    expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([404, 'no-store']);
  });

  it('an outage is answered by the document of before, else by 503', async () => {
    const { read, state, asked } = await openShop(host);
    state.answer = outage;
    const first = await read();
    expect([first.status, first.headers.get('Retry-After')]).toEqual([503, '10']);
    state.answer = async () => Response.json(DOCUMENT);
    expect((await read()).status).toBe(200);
    state.answer = outage;
    passSeconds(61);
    const repeated = await read();
    expect([repeated.status, await repeated.json(), asked.length]).toEqual([200, DOCUMENT, 3]);
  });

  it('an outage after a 404 is answered 503', async () => {
    const { read, state, asked } = await openShop(host);
    state.answer = notFound;
    expect((await read()).status).toBe(404);
    state.answer = outage;
    passSeconds(61);
    const answer = await read();
    expect([answer.status, answer.headers.get('Retry-After'), asked.length]).toEqual([503, '10', 2]);
  });
});
