import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import type { Teardown } from '../cli/teardown.ts';
import { variablesOf } from '../cli/variables.ts';
import { applyMigrations } from '../service/apply-migrations.ts';
import { WORKERD_FLAGS } from '../service/workerd-flags.ts';
import { startNoNode } from './no-node.ts';
import type { SandboxOptions } from './options.ts';
import { DIST, readSettings, type Settings } from './settings.ts';
import type { State } from './state.ts';

interface WorkerOptions extends Pick<SandboxOptions, 'host' | 'port'> {
  baseUrl: string;
  state: State;
  teardown: Teardown;
  onLine(line: string): void;
  onLiveCall(): void;
}

const LOOPBACK = '127.0.0.1';

/** Starts the service in workerd on a migrated database. Returns its URL on this machine, and a function that runs its cron once. */
export async function startWorker(options: WorkerOptions): Promise<{ url: string; runCron: () => Promise<void> }> {
  const { state, teardown } = options;
  Object.assign(process.env, WORKERD_FLAGS);
  const node = await startNoNode(options.onLiveCall);
  teardown.defer(() => node.close());
  const settings = readSettings();
  const variables = { ...settings.variables, ...variablesOf(state.secrets, options.baseUrl), RPC_URL: node.url };
  const server = withOwnSignals(() => new Miniflare(configure(settings, variables, options)));
  teardown.defer(() => server.dispose());
  const url = (await server.ready).origin;
  await applyMigrations((await server.getD1Database('DB')) as unknown as D1Database, settings.migrations);
  const worker = await server.getWorker();
  if (options.host !== LOOPBACK) await openDoor(options, Number(new URL(url).port));
  return { url, runCron: async () => void (await worker.scheduled({ cron: '* * * * *' })) };
}

/**
 * Forwards connections of another address to the worker. Miniflare itself listens on 127.0.0.1 alone, because it also opens a port for its
 * workers, without a credential, that can write files.
 */
async function openDoor({ host, port, teardown }: WorkerOptions, to: number): Promise<void> {
  const door = createServer((caller) => {
    const inner = connect(to, LOOPBACK);
    const end = (): void => {
      caller.destroy();
      inner.destroy();
    };
    for (const socket of [caller, inner]) socket.on('error', end).on('close', end);
    caller.pipe(inner).pipe(caller);
    open.add(caller);
    caller.on('close', () => open.delete(caller));
  });
  const open = new Set<Socket>();
  teardown.defer(() => {
    door.close();
    for (const caller of open) caller.destroy();
  });
  door.listen(port, host);
  await once(door, 'listening');
}

/** Removes the signal handlers that Miniflare adds, which end the process with status 130 before the teardown is over. */
function withOwnSignals(create: () => Miniflare): Miniflare {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const own = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const server = create();
  for (const signal of signals) for (const listener of process.listeners(signal)) if (!own.has(listener)) process.off(signal, listener);
  return server;
}

function configure(settings: Settings, variables: Record<string, string>, { host, port, state, onLine }: WorkerOptions) {
  const own = host === LOOPBACK ? port : 0;
  const modulesRoot = join(DIST, 'worker');
  // The entry comes first.
  const names = settings.modules.toSorted((a, b) => Number(b === 'index.js') - Number(a === 'index.js'));
  return convertV4MiniflareOptions({
    host: LOOPBACK,
    port: own,
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    handleStructuredLogs: ({ message }) => onLine(message),
    ...(state.dir === null ? {} : { resourcePersistencePath: join(state.dir, 'data') }),
    workers: [
      {
        ...settings.worker,
        name: 'svc',
        modulesRoot,
        modules: names.map((name) => ({
          type: 'ESModule' as const,
          path: join(modulesRoot, name),
          contents: readFileSync(join(modulesRoot, name), 'utf8'),
        })),
        bindings: variables,
        assets: { ...settings.assets, directory: join(DIST, settings.assets.directory) },
      },
    ],
  });
}
