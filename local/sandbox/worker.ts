import { readFileSync } from 'node:fs';
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

/** Starts the service in workerd on a migrated database. Returns a function that runs its cron once. */
export async function startWorker(options: WorkerOptions): Promise<() => Promise<void>> {
  const { state, teardown } = options;
  Object.assign(process.env, WORKERD_FLAGS);
  const node = await startNoNode(options.onLiveCall);
  teardown.defer(() => node.close());
  const settings = readSettings();
  const variables = { ...settings.variables, ...variablesOf(state.secrets, options.baseUrl), RPC_URL: node.url };
  const server = withOwnSignals(() => new Miniflare(configure(settings, variables, options)));
  teardown.defer(() => server.dispose());
  await server.ready;
  await applyMigrations((await server.getD1Database('DB')) as unknown as D1Database, settings.migrations);
  const worker = await server.getWorker();
  return async () => void (await worker.scheduled({ cron: '* * * * *' }));
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
  const modulesRoot = join(DIST, 'worker');
  // The entry comes first.
  const names = settings.modules.toSorted((a, b) => Number(b === 'index.js') - Number(a === 'index.js'));
  return convertV4MiniflareOptions({
    host,
    port,
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
