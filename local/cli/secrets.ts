import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './options.ts';

/** Secrets generated once per state directory and reused: stored accounts, keys and receipts depend on them. */
export interface LocalSecrets {
  pepper: string;
  jwtKeys: string;
  receiptKeys: string;
  emailKeys: string;
  sandboxSeed: string;
  operatorSecret: string;
  sealKeys: string;
  factorKeys: string;
  challengeKeys: string;
  /** Fee payer for agents. Its wallet gets SOL from the local chain at every start. */
  feePayerKeys: string;
  /** Payment channel key. Its wallet gets SOL and an empty token account at every start. */
  channelKeys: string;
  /** Subscription collector key. Its wallet gets SOL at every start. */
  subscriptionKeys: string;
  treasurySeed: string;
  handoffSecrets: string;
  telegramConnectorSecret: string;
  discordConnectorSecret: string;
  /** Signs the node provider's calls of the chain webhook. */
  rpcWebhookSecret: string;
  merchant: {
    email: string;
    password: string;
    /** Seed of the payout wallet, so that its money can be spent on the local chain. */
    payoutSeed: string;
    key?: string;
  };
}

const FILE = 'secrets.json';
const newSeed = (): string => randomBytes(32).toString('base64url');

const newKeys = (): Omit<LocalSecrets, 'merchant'> => ({
  pepper: newSeed(),
  jwtKeys: newSeed(),
  receiptKeys: newSeed(),
  emailKeys: newSeed(),
  sandboxSeed: newSeed(),
  operatorSecret: newSeed(),
  sealKeys: newSeed(),
  factorKeys: newSeed(),
  challengeKeys: newSeed(),
  feePayerKeys: newSeed(),
  channelKeys: newSeed(),
  subscriptionKeys: newSeed(),
  treasurySeed: newSeed(),
  handoffSecrets: newSeed(),
  telegramConnectorSecret: newSeed(),
  discordConnectorSecret: newSeed(),
  rpcWebhookSecret: newSeed(),
});

export const newSecrets = (): LocalSecrets => ({
  ...newKeys(),
  merchant: { email: 'demo@svc.local', password: randomBytes(12).toString('base64url'), payoutSeed: newSeed() },
});

/** Returns the secrets of a state directory. The first call creates both. */
export function openSecrets(stateDir: string): LocalSecrets {
  const path = join(stateDir, FILE);
  if (existsSync(path)) {
    const known = readSecrets(path);
    // Adds missing secrets to older directories and leaves existing ones unchanged.
    const complete = { ...newKeys(), ...known };
    if (Object.keys(complete).length > Object.keys(known).length) saveSecrets(stateDir, complete);
    return complete;
  }
  mkdirSync(stateDir, { recursive: true });
  // Excludes the directory from any repository.
  writeFileSync(join(stateDir, '.gitignore'), '*\n');
  const secrets = newSecrets();
  saveSecrets(stateDir, secrets);
  return secrets;
}

export function saveSecrets(stateDir: string, secrets: LocalSecrets): void {
  writePrivately(join(stateDir, FILE), `${JSON.stringify(secrets, null, 2)}\n`);
}

/** Writes the worker's variables to a file, because every user of the machine can read a command line. */
export function writeEnvFile(stateDir: string, variables: Record<string, string>): string {
  const path = join(stateDir, 'worker.env');
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
  writePrivately(path, lines.join(''));
  return path;
}

function readSecrets(path: string): LocalSecrets {
  try {
    const secrets = JSON.parse(readFileSync(path, 'utf8')) as LocalSecrets;
    if (secrets.pepper && secrets.jwtKeys && secrets.receiptKeys && secrets.merchant.payoutSeed) return secrets;
  } catch {
    // Handled below.
  }
  throw new Refusal(`${path} cannot be read. Restore it, or delete the whole directory to begin anew.`);
}

function writePrivately(path: string, text: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}
