import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** `npm run admin -- …`: what only the operator of the service may do, to an account, or to a rail, or to any merchant's product. */
const ACCOUNT_ACTIONS = ['suspend', 'resume', 'staff', 'unstaff'];
const SWITCHES = ['off', 'on'];
const USAGE = `npm run admin -- ${ACCOUNT_ACTIONS.join('|')} <e-mail or user id>
       npm run admin -- ${SWITCHES.join('|')} rail:<rail_id>|product:<product_id>
       with [--url http://127.0.0.1:8787] [--state .local]`;

interface Order {
  action: string;
  subject: string;
  url: string;
  stateDir: string;
}

function readOrder(args: string[]): Order {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { url: { type: 'string' }, state: { type: 'string' } },
  });
  const [action = '', subject = '', ...rest] = positionals;
  if (![...ACCOUNT_ACTIONS, ...SWITCHES].includes(action) || subject === '' || rest.length > 0)
    throw new Error(`An action and what it is for, please.\nUsage: ${USAGE}`);
  const stateDir = resolve(values.state ?? (process.env.STATE_DIR || '.local'));
  return { action, subject, url: values.url ?? 'http://127.0.0.1:8787', stateDir };
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
  const { action, subject, url, stateDir } = readOrder(process.argv.slice(2));
  const isSwitch = SWITCHES.includes(action);
  const response = await fetch(new URL(isSwitch ? '/v1/operator/switches' : '/v1/operator/accounts', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Svc-Operator-Secret': readSecret(stateDir) },
    body: JSON.stringify(isSwitch ? { subject, to: action } : { account: subject, action }),
  });
  const answer = (await response.json()) as {
    user_id: string;
    status: string;
    is_staff: boolean;
    switched_off: string[];
    code?: string;
    detail?: unknown;
  };
  if (response.status === 404) throw new Error(`There is no ${subject}, or the service does not know this OPERATOR_SECRET.`);
  if (!response.ok) throw new Error(`${response.status} ${answer.code}: ${JSON.stringify(answer.detail)}`);
  if (isSwitch) console.log(answer.switched_off.length > 0 ? `off: ${answer.switched_off.join(', ')}` : 'everything is on');
  else console.log(`${answer.user_id} is ${answer.status}${answer.is_staff ? ', staff' : ''}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
