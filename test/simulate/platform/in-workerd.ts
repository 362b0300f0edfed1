import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { WORKERD_FLAGS } from '../../../local/service/workerd-flags.ts';

const CONSUMER = { maxBatchSize: 1, maxBatchTimeout: 0.05, maxRetries: 2 };

/** Starts workerd with the bindings of the cases. */
export async function startWorkerd(): Promise<{ run(name: string): Promise<string>; stop(): Promise<void> }> {
  Object.assign(process.env, WORKERD_FLAGS);
  const { outputFiles } = await build({
    entryPoints: [new URL('worker.ts', import.meta.url).pathname],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:*'],
  });
  const server = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: '2026-08-01',
      compatibilityFlags: ['nodejs_compat', 'queue_consumer_no_wait_for_wait_until'],
      d1Databases: ['DB'],
      r2Buckets: ['BUCKET'],
      durableObjects: { PROBE: { className: 'Probe', useSQLite: true } },
      queueProducers: { QUEUE: 'queue' },
      queueConsumers: { queue: { ...CONSUMER, deadLetterQueue: 'dead' }, dead: CONSUMER },
    }),
  );
  return {
    run: async (name) => (await server.dispatchFetch(`http://cases/${encodeURIComponent(name)}`)).text(),
    stop: () => server.dispose(),
  };
}
