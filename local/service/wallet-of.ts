import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';

export async function readWallet(seeds: string): Promise<string> {
  const [seed = ''] = seeds.split(',');
  return (await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(Buffer.from(seed, 'base64url')))).address;
}
