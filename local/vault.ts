/**
 * `npm run secrets`: makes every secret of a deployment once, as a file for the operator's vault, and uploads them to the platform. The
 * platform shows none again, and receipts, keys and accounts are bound to them for ever.
 * @module
 */

import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { Refusal } from './cli/options.ts';
import { readWallet } from './service/wallet-of.ts';
import { runWrangler } from './service/wrangler.ts';

const USAGE = `npm run secrets -- --out <file for your vault>         generates all secrets and writes them once
       npm run secrets -- --out <that file> --put [--env <environment of wrangler.toml>]   uploads them to the platform`;

/** Secrets that this service generates. Secrets of other parties are added to the file manually. */
const OWN = [
  'PEPPER',
  'JWT_KEYS',
  'RECEIPT_KEYS',
  'EMAIL_LINK_KEYS',
  'SANDBOX_SEED',
  'SEAL_KEYS',
  'FACTOR_KEYS',
  'FEE_PAYER_KEYS',
  'CHALLENGE_KEYS',
  'CHANNEL_KEYS',
  'SUBSCRIPTION_KEYS',
  'OPERATOR_SECRET',
  'RPC_WEBHOOK_SECRET',
  'HANDOFF_SECRETS',
];

const HEAD = `# All secrets of one deployment. Store this file in a vault: the platform never shows them again, and without PEPPER and
# RECEIPT_KEYS accounts, keys and receipts are lost. Each is a ring: separate values by commas (docs/operations/secrets.md).
# Secrets of other parties (RESEND_API_KEY, GOOGLE_CLIENT_SECRET, PROCESSOR_API_KEY …) may be added as further lines.
`;

/** Refuses to overwrite an existing file: its values are in use and could not be recovered. */
function makeVault(path: string): void {
  const lines = OWN.map((name) => `${name}='${randomBytes(32).toString('base64url')}'\n`);
  writeFileSync(path, HEAD + lines.join(''), { mode: 0o600, flag: 'wx' });
}

/** Uploads through a temporary file that only this user can read, because every user can read a command line. */
async function putSecrets(path: string, environment: string | undefined): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
  try {
    const bulk = join(stateDir, 'bulk.json');
    writeFileSync(bulk, JSON.stringify(parseEnv(readFileSync(path, 'utf8'))), { mode: 0o600 });
    await runWrangler(['secret', 'bulk', bulk, ...(environment === undefined ? [] : ['--env', environment])], { stateDir });
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

function readFlags(args: string[]): { out: string; put: boolean; env: string | undefined } {
  const options = { out: { type: 'string' }, put: { type: 'boolean' }, env: { type: 'string' } } as const;
  try {
    const { out, put = false, env } = parseArgs({ args, options }).values;
    if (out !== undefined) return { out: resolve(out), put, env };
  } catch {
    // Handled below.
  }
  throw new Refusal(`--out is missing.\nUsage: ${USAGE}`);
}

async function main(): Promise<void> {
  const { out, put, env } = readFlags(process.argv.slice(2));
  const isThere = existsSync(out);
  if (isThere && !put) throw new Refusal(`${out} exists, and its secrets may be in use. Add --put to upload them to the platform.`);
  if (!isThere) {
    makeVault(out);
    console.log(`${OWN.length} secrets are in ${out}. Move it into your vault; it cannot be generated again.`);
  }
  const { FEE_PAYER_KEYS = '', SUBSCRIPTION_KEYS = '' } = parseEnv(readFileSync(out, 'utf8'));
  if (FEE_PAYER_KEYS) console.log(`The fee payer is ${await readWallet(FEE_PAYER_KEYS)}: send it about 0.1 SOL, and nothing else.`);
  if (SUBSCRIPTION_KEYS)
    console.log(`Subscriptions are collected by ${await readWallet(SUBSCRIPTION_KEYS)}: send it about 0.1 SOL, and nothing else.`);
  if (!put) return console.log(`Next: npm run secrets -- --out ${out} --put`);
  await putSecrets(out, env);
  console.log('The secrets are uploaded.');
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
