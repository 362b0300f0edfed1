import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';

// A key file as solana-keygen writes it. The wallet needs USDC and no SOL: the service pays the network fee.
const wallet = await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(readFileSync(process.env.WALLET_FILE!, 'utf8'))));
const scheme = new ExactSvmScheme(wallet, { rpcUrl: process.env.RPC_URL! });
const call = wrapFetchWithPayment(fetch, new x402Client().register('solana:*', scheme));

for (const url of process.argv.slice(2)) {
  const response = await call(url);
  console.log(`${response.status} ${await response.text()}`);
  if (!response.ok) process.exitCode = 1;
}
