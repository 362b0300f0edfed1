import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './options.ts';

/** Made once per state directory and kept: with other keys, stored accounts, keys and receipts would no longer check out. */
interface LocalSecrets {
  pepper: string;
  /** 32-byte base64url seeds. */
  jwtKeys: string;
  receiptKeys: string;
  letterKeys: string;
  sandboxSeed: string;
  operatorSecret: string;
  sealKeys: string;
  challengeKeys: string;
  /** Pays the network for agents; its wallet gets SOL from the local chain at every start. */
  feePayerKeys: string;
  /** Opens and closes payment channels; its wallet gets SOL, and an empty token account, at every start. */
  channelKeys: string;
  /** Collects subscriptions; its wallet gets SOL at every start. */
  subscriptionKeys: string;
  /** Seed of the wallet that plans are paid to. */
  treasurySeed: string;
  handoffSecrets: string;
  telegramConnectorSecret: string;
  discordConnectorSecret: string;
  /** Signs what a node provider sends to the chain webhook. */
  rpcWebhookSecret: string;
  merchant: {
    email: string;
    password: string;
    /** Seed of the payout wallet, so that its money can be spent on the local chain. */
    payoutSeed: string;
    /** The demo merchant's live key, once it exists. */
    key?: string;
  };
}

const FILE = 'secrets.json';
const newSeed = (): string => randomBytes(32).toString('base64url');

const newKeys = (): Omit<LocalSecrets, 'merchant'> => ({
  pepper: newSeed(),
  jwtKeys: newSeed(),
  receiptKeys: newSeed(),
  letterKeys: newSeed(),
  sandboxSeed: newSeed(),
  operatorSecret: newSeed(),
  sealKeys: newSeed(),
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

/** The secrets of a state directory; the first call makes the directory and them. */
export function openSecrets(stateDir: string): LocalSecrets {
  const path = join(stateDir, FILE);
  if (existsSync(path)) {
    const known = readSecrets(path);
    // Directories made before there was one of these get it now; what they have stays.
    const complete = { ...newKeys(), ...known };
    if (Object.keys(complete).length > Object.keys(known).length) saveSecrets(stateDir, complete);
    return complete;
  }
  mkdirSync(stateDir, { recursive: true });
  // Wherever it lies, nothing in this directory belongs into a repository.
  writeFileSync(join(stateDir, '.gitignore'), '*\n');
  const merchant = { email: 'demo@svc.local', password: randomBytes(12).toString('base64url'), payoutSeed: newSeed() };
  const secrets = { ...newKeys(), merchant };
  saveSecrets(stateDir, secrets);
  return secrets;
}

/** Replaces the file as a whole, so that a kill in the middle leaves the old one. */
export function saveSecrets(stateDir: string, secrets: LocalSecrets): void {
  writePrivately(join(stateDir, FILE), `${JSON.stringify(secrets, null, 2)}\n`);
}

/** The worker's variables as an env file, because a command line can be read by every user of the machine. */
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
    // Said below.
  }
  throw new Refusal(`${path} cannot be read. Restore it, or delete the whole directory to begin anew.`);
}

function writePrivately(path: string, text: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}
