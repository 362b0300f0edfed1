import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../cli/api.ts';
import { compactLog } from '../cli/log-lines.ts';
import { Refusal } from '../cli/options.ts';
import { freePort } from '../cli/ports.ts';
import { endOnSignals } from '../cli/signals.ts';
import { Teardown } from '../cli/teardown.ts';
import { openKey, signIn } from '../service/merchant.ts';
import { repeatCron } from './cron.ts';
import { readOptions, type SandboxOptions } from './options.ts';
import { DIST } from './settings.ts';
import { openState, type State } from './state.ts';
import { startWorker } from './worker.ts';

const EVERY_ADDRESS = '0.0.0.0';
const teardown = new Teardown();

endOnSignals(teardown);

async function main(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(DIST, '../package.json'), 'utf8')) as { version: string };
  const options = readOptions(process.argv.slice(2), process.env, version);
  if (typeof options === 'string') return console.log(options);
  const startedAt = performance.now();
  const state = openState(options.stateDir);
  const port = await freePort(options.port, '--port', options.host);
  const baseUrl = options.url ?? `http://${options.host === EVERY_ADDRESS ? '127.0.0.1' : options.host}:${port}`;
  const { url, runCron } = await startWorker({
    ...options,
    port,
    baseUrl,
    state,
    teardown,
    onLine: printer(options),
    onLiveCall: warnOnce(),
  });
  const api = new Api(url);
  const { email, password, key: known } = state.secrets.merchant;
  const token = await signIn(api, email, password);
  const key = await openKey(api, token, known, { sandbox_mode: true });
  if (key !== known) state.saveKey(key);
  repeatCron(runCron, teardown, (problem) => console.error(`cron: ${problem}`));
  introduce({ baseUrl, key, state, seconds: (performance.now() - startedAt) / 1000 });
}

function printer({ verbose }: SandboxOptions): (line: string) => void {
  const toShow = compactLog();
  return (line) => {
    const text = verbose ? toShow(line, 'stderr') : null;
    if (text !== null) console.log(text);
  };
}

function warnOnce(): () => void {
  let hasWarned = false;
  return () => {
    if (!hasWarned) console.error('A call of live mode needs a Solana node, and the sandbox has none. Use the sandbox key.');
    hasWarned = true;
  };
}

function introduce({ baseUrl, key, state, seconds }: { baseUrl: string; key: string; state: State; seconds: number }): void {
  const { email, password } = state.secrets.merchant;
  console.log(`ready ${baseUrl} in ${seconds.toFixed(1)} s

  Sandbox key  ${key}
  Dashboard    ${baseUrl}/dashboard (${email}, password ${password})
  State        ${state.dir ?? 'in memory, deleted at the end. --state <folder> stores it'}

Try a payment, from checkout to webhook:

  curl -s ${baseUrl}/v1/testing/sessions -H 'x-svc-key: ${key}' -H 'content-type: application/json' -d '{"scenario":"payment_confirmed"}'

The API is described at ${baseUrl}/v1/docs, the sandbox at ${baseUrl}/docs/sandbox. End with Ctrl-C.`);
}

main().catch(async (error: unknown) => {
  if (teardown.hasBegun) return;
  console.error(error instanceof Refusal ? error.message : error);
  await teardown.run();
  process.exit(1);
});
