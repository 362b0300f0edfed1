import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes, createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import { Refusal } from './options.ts';

/** Opens a keypair file of the Solana CLI. */
export async function readKeyFile(path: string): Promise<KeyPairSigner> {
  const bytes: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(bytes) || bytes.length !== 64) throw new Refusal(`${path} is not a keypair file: expected 64 numbers in brackets.`);
  return createKeyPairSignerFromBytes(Uint8Array.from(bytes));
}

/** Writes a new wallet as the Solana CLI does. Throws if the file exists. */
export async function writeKeyFile(path: string): Promise<KeyPairSigner> {
  const seed = randomBytes(32);
  const signer = await createKeyPairSignerFromPrivateKeyBytes(seed, true);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', signer.keyPair.publicKey));
  writeFileSync(path, JSON.stringify([...seed, ...publicKey]), { mode: 0o600, flag: 'wx' });
  return signer;
}
