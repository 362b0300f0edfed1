import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** `npm run admin -- suspend|resume|staff|unstaff <e-mail or user id>`: what only the operator of the service may do. */
const ACTIONS = ['suspend', 'resume', 'staff', 'unstaff'];
const USAGE = `npm run admin -- ${ACTIONS.join('|')} <e-mail or user id> [--url http://127.0.0.1:8787] [--state .local]`;

interface Order {
  action: string;
  account: string;
  url: string;
  stateDir: string;
}

function readOrder(args: string[]): Order {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { url: { type: 'string' }, state: { type: 'string' } },
  });
  const [action = '', account = '', ...rest] = positionals;
  if (!ACTIONS.includes(action) || account === '' || rest.length > 0)
    throw new Error(`An action and one account, please.\nUsage: ${USAGE}`);
  const stateDir = resolve(values.state ?? (process.env.STATE_DIR || '.local'));
  return { action, account, url: values.url ?? 'http://127.0.0.1:8787', stateDir };
}

/** From the environment, or where a local start keeps its own. Never from the command line, which every user can read. */
function readSecret(stateDir: string): string {
  if (process.env.OPERATOR_SECRET) return process.env.OPERATOR_SECRET;
  const path = join(stateDir, 'secrets.json');
  const secrets = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { operatorSecret?: string }) : {};
  if (secrets.operatorSecret) return secrets.operatorSecret;
  throw new Error(`Set OPERATOR_SECRET to what the service has; ${path} holds none.`);
}

async function main(): Promise<void> {
  const { action, account, url, stateDir } = readOrder(process.argv.slice(2));
  const response = await fetch(new URL('/operator/accounts', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Svc-Operator-Secret': readSecret(stateDir) },
    body: JSON.stringify({ account, action }),
  });
  const answer = (await response.json()) as { user_id: string; status: string; is_staff: boolean; code?: string; detail?: unknown };
  if (response.status === 404) throw new Error('No such account, or the service does not know this OPERATOR_SECRET.');
  if (!response.ok) throw new Error(`${response.status} ${answer.code}: ${JSON.stringify(answer.detail)}`);
  console.log(`${answer.user_id} is ${answer.status}${answer.is_staff ? ', staff' : ''}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
