import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { type ChainServer, startChainServer } from '../../local/chain/rpc/server.ts';

export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

let chainCount = 0;

/** Local chain as a client sees it, through its address alone. `openOn` opens a separate chain for a test. */
export class ClientChain {
  readonly url: string;
  readonly webSocketUrl: string;

  constructor(url: string) {
    this.url = url;
    this.webSocketUrl = this.url.replace('http:', 'ws:');
  }

  static openOn(server: ChainServer): ClientChain {
    chainCount += 1;
    return new ClientChain(`${server.url}/clients-${chainCount}`);
  }

  async call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = (await (await fetch(this.url, { method: 'POST', headers, body })).json()) as { result: Result; error?: unknown };
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** Opens a wallet with SOL and a token account that holds `usdc` base units. */
  async openWallet(usdc: bigint): Promise<{ signer: KeyPairSigner; address: Address; tokenAccount: Address }> {
    const signer = await generateKeyPairSigner();
    await this.call('local_fundSol', signer.address, '1000000000');
    const tokenAccount = await this.call<Address>('local_fundUsdc', signer.address, usdc.toString());
    return { signer, address: signer.address, tokenAccount };
  }

  async held(tokenAccount: Address): Promise<bigint> {
    return BigInt((await this.call<{ value: { amount: string } }>('getTokenAccountBalance', tokenAccount)).value.amount);
  }

  async dataOf(address: Address): Promise<Uint8Array | null> {
    const { value } = await this.call<{ value: { data: [string] } | null }>('getAccountInfo', address, { encoding: 'base64' });
    return value === null ? null : Uint8Array.from(Buffer.from(value.data[0], 'base64'));
  }
}

export { type ChainServer, startChainServer };
