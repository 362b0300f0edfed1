import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';

/** Address of the first of a secret's seeds. */
export async function walletOf(seeds: string): Promise<string> {
  const [seed = ''] = seeds.split(',');
  return (await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(Buffer.from(seed, 'base64url')))).address;
}
