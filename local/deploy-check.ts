/**
 * `npm run deploy:check`: finds problems of a deployment in advance. Calls the platform only if its API token is set.
 * @module
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { unstable_readConfig as readWrangler } from 'wrangler';
import { listMissingKeys, NAMED_KEYS, type NamedKey } from '../worker/platform/chain/named-keys.ts';
import { Refusal } from './cli/options.ts';
import { runWrangler } from './service/wrangler.ts';

const USAGE = `npm run deploy:check -- --vars <file of all secrets> [--env <environment of wrangler.toml>] [--offline]`;
const PLACEHOLDERS = { database: /^0{8}-/, reference: '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x' };

interface Flags {
  vars?: string;
  env?: string;
  offline?: boolean;
}
/** Returns open problems. Empty: none. Null: could not be checked. */
type Check = (flags: Flags) => string[] | null | Promise<string[] | null>;

function runScript(file: string, args: string[]): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', join(import.meta.dirname, file), ...args], {
    encoding: 'utf8',
  });
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n').filter(Boolean);
}

const checkConfiguration: Check = ({ vars, env, offline }) =>
  runScript('check-config.ts', [
    ...(vars === undefined ? [] : ['--vars', vars]),
    ...(env === undefined ? [] : ['--env', env]),
    ...(offline ? ['--offline'] : []),
  ]);

const checkPlaceholders: Check = ({ env }) => {
  const { d1_databases, vars } = readWrangler({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
  const isPlaceholder = d1_databases.some(({ database_id = '' }) => PLACEHOLDERS.database.test(database_id));
  return [
    ...(isPlaceholder ? ['wrangler.toml has no database_id. Run npx wrangler d1 create svc'] : []),
    ...(String(vars.SERVICE_REFERENCE).includes(PLACEHOLDERS.reference)
      ? ['SERVICE_REFERENCE has the example’s address. Use an address of your own']
      : []),
  ];
};

const checkBundle: Check = () => [...runScript('assets.ts', []), ...runScript('build.ts', [])];

const checkMigrations: Check = async ({ env, offline }) => {
  if (offline || !process.env.CLOUDFLARE_API_TOKEN) return null;
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-check-'));
  try {
    const chosen = env === undefined ? [] : ['--env', env];
    const { d1_databases } = readWrangler({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
    const open: string[] = [];
    for (const { binding } of d1_databases) {
      const said = await runWrangler(['d1', 'migrations', 'list', binding, '--remote', ...chosen], { stateDir });
      if (!/no migrations to apply/i.test(said)) open.push(said, `npx wrangler d1 migrations apply ${binding} --remote`);
    }
    return open;
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
};

/** Lists keys used by stored rows but missing from the file. Those rows could not be opened until the keys are restored. */
const checkKeys: Check = async ({ vars, env, offline }) => {
  if (offline || vars === undefined || !process.env.CLOUDFLARE_API_TOKEN) return null;
  const secrets = parseEnv(readFileSync(vars, 'utf8'));
  const chosen = env === undefined ? [] : ['--env', env];
  const { d1_databases } = readWrangler({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-check-'));
  try {
    const named: NamedKey[] = [];
    for (const { binding } of d1_databases) {
      const said = await runWrangler(['d1', 'execute', binding, '--remote', '--json', '--command', NAMED_KEYS, ...chosen], { stateDir });
      named.push(...(JSON.parse(said) as { results: NamedKey[] }[]).flatMap(({ results }) => results));
    }
    return listMissingKeys(secrets, named).map(({ variable, address }) => `${variable} lacks the key of ${address}, which open rows name`);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
};

const missingForPlatform = ({ vars, offline }: Flags): string =>
  [
    ...(offline ? ['omit --offline'] : []),
    ...(process.env.CLOUDFLARE_API_TOKEN ? [] : ['set CLOUDFLARE_API_TOKEN']),
    ...(vars === undefined ? ['name the file of secrets with --vars'] : []),
  ].join(' and ');

const CHECKS: Record<string, Check> = {
  configuration: checkConfiguration,
  'wrangler.toml': checkPlaceholders,
  'build and size': checkBundle,
  migrations: checkMigrations,
  'keys in use': checkKeys,
};

function readFlags(args: string[]): Flags {
  const options = { vars: { type: 'string' }, env: { type: 'string' }, offline: { type: 'boolean' } } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  let isReady = true;
  for (const [name, check] of Object.entries(CHECKS)) {
    const open = await check(flags);
    console.log(`${open === null ? 'skipped' : open.length === 0 ? 'ok' : 'open'}  ${name}`);
    for (const line of open ?? []) console.log(`      ${line}`);
    if (open === null) console.log(`      To check the platform, ${missingForPlatform(flags)}.`);
    if (open && open.length > 0) isReady = false;
  }
  console.log(isReady ? '\nReady to deploy: npx wrangler deploy' : '\nNot ready yet.');
  process.exitCode = isReady ? 0 : 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});
