import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient, type SvcError } from '../../sdk/src/index.ts';
import { DROPS, type Drop, DroppingServer } from './dropping-server.ts';

const CALLS = 100;

/** Call of each class, named in its body or path. */
const CLASSES: Record<string, (client: Client, name: string) => Promise<object>> = {
  GET: (client, name) => client.products.get(name),
  required: (client, name) => client.entitlements.consume({ name } as never),
  honoured: (client, name) => client.products.create({ name } as never),
  natural: (client, name) => client.facilitator.settle({ name } as never),
  none: (client, name) => client.agentSetup.create({ name } as never),
};
const WRITES = Object.keys(CLASSES).filter((name) => name !== 'GET');

const servers: DroppingServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function open(dropOf: () => Drop, maxRetries = 2) {
  const server = new DroppingServer(dropOf);
  servers.push(server);
  const client = createClient({ baseUrl: await server.listen(), key: 'svc_live_x', maxRetries });
  return { server, client };
}

/** Calls 100 times. Returns the errors of the failed calls by name. */
async function callOften(client: Client, call: (typeof CLASSES)[string]) {
  const failures = new Map<string, SvcError>();
  const names = Array.from({ length: CALLS }, (_, index) => `call-${index}`);
  const calling = names.map((name) =>
    call(client, name).then(
      (answer) => expect(answer).toMatchObject({ name }),
      (error: SvcError) => failures.set(name, error),
    ),
  );
  await Promise.all(calling);
  return { names, failures };
}

/** Returns drops in a shuffled order, the same in each run. */
function shuffledDrops(seed: number): () => Drop {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return [...DROPS, null][Math.floor(state / 65_536) % (DROPS.length + 1)] ?? null;
  };
}

describe('dropped connections', () => {
  const everyClass = Object.keys(CLASSES).flatMap((name) => DROPS.map((drop) => [name, drop] as const));

  it.each(everyClass)('%s: a connection that always drops %s leaves at most one effect', async (name, drop) => {
    const { server, client } = await open(() => drop);
    const { names, failures } = await callOften(client, CLASSES[name]!);
    const isAnswered = drop === 'after the answer';
    expect(failures.size).toBe(isAnswered ? 0 : CALLS);
    for (const call of names) {
      const effects = server.effects.get(call) ?? 0;
      expect(effects).toBe(name === 'GET' || drop === 'before the effect' ? 0 : 1);
      if (isAnswered) continue;
      expect(failures.get(call)).toMatchObject({ code: 'connection_failed', status: 0, retryable: true, isAmbiguous: true });
      expect(server.requests.get(call)).toBe(name === 'none' ? 1 : 3);
    }
  });

  it.each(Object.keys(CLASSES))(
    '%s: among any drops no write has two effects, and each error says if it may have happened',
    async (name) => {
      const { server, client } = await open(shuffledDrops(CALLS + name.length), 3);
      const { names, failures } = await callOften(client, CLASSES[name]!);
      expect(failures.size).toBeLessThan(CALLS);
      for (const call of names) {
        const effects = server.effects.get(call) ?? 0;
        expect(effects, call).toBeLessThanOrEqual(1);
        if (name === 'none') expect(server.requests.get(call)).toBe(1);
        const failure = failures.get(call);
        if (failure && effects > 0) expect(failure.isAmbiguous).toBe(true);
        if (!failure && name !== 'GET') expect(effects, call).toBe(1);
      }
    },
  );

  it('a connection that drops once is repeated to its success, except for a call without idempotency', async () => {
    for (const name of Object.keys(CLASSES)) {
      const drops: Drop[] = Array.from({ length: CALLS }, (_, index) => DROPS[index % 3]!);
      const { server, client } = await open(() => drops.shift() ?? null);
      const { failures } = await callOften(client, CLASSES[name]!);
      expect(failures.size, name).toBe(name === 'none' ? CALLS : 0);
      for (const [call, count] of server.effects) expect(count, call).toBe(1);
    }
  });
});

describe('answers that leave the effect open', () => {
  const refused = (code: string, status = 409) => JSON.stringify({ code, detail: code, retryable: status === 409, meta: {} });
  const page = '<html>blocked</html>';

  it.each([
    [409, refused('idempotency_in_progress'), true],
    [409, refused('idempotency_race'), true],
    [408, 'Request Timeout', true],
    [403, page, true],
    [404, '', true],
    [200, page, true],
    [502, page, true],
    [401, '{"hint":"sign in"}', true],
    [409, refused('state_conflict'), false],
    [409, refused('idempotency_conflict'), false],
    [429, refused('rate_limited', 429), false],
  ])('the error of a write that is answered %i %s has isAmbiguous %s', async (status, body, isAmbiguous) => {
    const proxy = createHttpServer((_request, response) => void response.writeHead(status, { 'Retry-After': '0' }).end(body));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const client = createClient({ baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, maxRetries: 1 });
    for (const name of WRITES) {
      const failure = await CLASSES[name]!(client, 'x').catch((error: unknown) => error);
      expect(failure, name).toMatchObject({ status, isAmbiguous });
    }
    proxy.closeAllConnections();
    proxy.close();
  });
});

describe('answers of bytes', () => {
  it('a signal ends the reading after the answer began, and the timeout does not', async () => {
    const endless = createHttpServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/pdf' });
      setInterval(() => response.write('x'), 10).unref();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const controller = new AbortController();
    const { port } = endless.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 100 });
    const pdf = await client.receipts.getPdf('r', { signal: controller.signal });
    const reason = new Error('the user left');
    setTimeout(() => controller.abort(reason), 300);
    const startedAt = Date.now();
    expect(await pdf.text().catch((error: unknown) => error)).toBe(reason);
    expect(Date.now() - startedAt).toBeGreaterThan(250);
    endless.closeAllConnections();
    endless.close();
  });
});

describe('refused connections', () => {
  /** Returns a port on which nothing listens. */
  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  it.each(WRITES)('%s: a call that was never sent is repeated, and its error says that nothing happened', async (name) => {
    let repeats = 0;
    const onRetry = () => repeats++;
    const client = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, onRetry });
    const { failures } = await callOften(client, CLASSES[name]!);
    expect([failures.size, repeats]).toEqual([CALLS, 2 * CALLS]);
    for (const failure of failures.values()) expect(failure).toMatchObject({ code: 'connection_failed', isAmbiguous: false });
  });

  it('a call without idempotency happens once, as soon as the service listens', async () => {
    const server = new DroppingServer(() => null);
    servers.push(server);
    const port = await freePort();
    const listen = server.listen.bind(server, port);
    let isListening = false;
    const onRetry = () => {
      if (!isListening) void listen();
      isListening = true;
    };
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, onRetry });
    const { failures } = await callOften(client, CLASSES.none!);
    expect([failures.size, server.effects.size]).toEqual([0, CALLS]);
    for (const [call, count] of server.effects) expect(count, call).toBe(1);
  });
});
