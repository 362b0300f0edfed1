import {
  type Address,
  addSignersToInstruction,
  createClient,
  generateKeyPairSigner,
  getAddressDecoder,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  type SignatureBytes,
} from '@solana/kit';
import { solanaLocalRpc } from '@solana/kit-plugin-rpc';
import { signer } from '@solana/kit-plugin-signer';
import { ActiveSession, buildOpenPaymentChannelTransaction, derivePaymentChannelOpen, voucherMessageBytes } from '@solana/mpp/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, decodeChannel, findChannelAddress, TOMBSTONE } from '../../worker/solana/programs/payment-channels/channel.ts';
import { hashShares } from '../../worker/solana/programs/payment-channels/distribution.ts';
import {
  distributeInstruction,
  settleAndSealInstruction,
  settleInstruction,
} from '../../worker/solana/programs/payment-channels/instructions.ts';
import { ed25519Instruction, encodeVoucher } from '../../worker/solana/programs/payment-channels/vouchers.ts';
import { type ChainServer, ClientChain, startChainServer, TOKEN_PROGRAM, USDC } from './chain.ts';

const PROGRAM = CHANNEL_PROGRAMS.older;
const DEPOSIT = 1_000_000n;
const GRACE_SECONDS = 900;
const SALT = 11n;

let server: ChainServer;
beforeAll(async () => {
  server = await startChainServer();
});
afterAll(() => server.close());

/** Opens a buyer with the public client, an operator who pays the fees and is the payee, and a merchant who gets the full split. */
async function openWorld() {
  const chain = ClientChain.openOn(server);
  const [buyer, operator, merchant] = [await chain.openWallet(5n * DEPOSIT), await chain.openWallet(0n), await chain.openWallet(0n)];
  const request = {
    cap: DEPOSIT.toString(),
    currency: USDC as string,
    decimals: 6,
    network: 'devnet',
    operator: operator.address as string,
    recipient: operator.address as string,
    splits: [{ bps: 10_000, recipient: merchant.address as string }],
    modes: ['pull' as const],
    pullVoucherStrategy: 'clientVoucher' as const,
  };
  const session = await generateKeyPairSigner();
  const opening = { authorizedSigner: session.address, deposit: DEPOSIT, gracePeriod: GRACE_SECONDS, request, salt: SALT };
  return { chain, buyer, operator, merchant, session, opening };
}

async function coSign(chain: ClientChain, wire: string, operator: KeyPairSigner): Promise<void> {
  const partial = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
  const signed = await partiallySignTransaction([operator.keyPair], partial);
  await chain.call('sendTransaction', getBase64EncodedWireTransaction(signed), { encoding: 'base64' });
}

describe('public session client', () => {
  it('the client opens a channel of the older program with a transaction that the operator only co-signs', async () => {
    const { chain, buyer, operator, merchant, session, opening } = await openWorld();
    const open = await buildOpenPaymentChannelTransaction({ ...opening, rpcUrl: chain.url, signer: buyer.signer });
    await coSign(chain, open.transaction, operator.signer);
    const channel = decodeChannel(PROGRAM, (await chain.dataOf(open.channelId as Address))!);
    expect(channel).toMatchObject({
      ok: true,
      value: {
        status: 'open',
        salt: SALT,
        deposit: DEPOSIT,
        settled: 0n,
        gracePeriodSeconds: GRACE_SECONDS,
        payer: buyer.address,
        payee: operator.address,
        authorizedSigner: session.address,
        mint: USDC,
        rentPayer: buyer.address,
        distributionHash: hashShares(PROGRAM, [{ recipient: merchant.address, bps: 10_000 }]),
      },
    });
    expect(await chain.held(buyer.tokenAccount)).toBe(4n * DEPOSIT);
  });

  it('settle and close by the operator pay out exactly the vouchers of the client', async () => {
    const { chain, buyer, operator, merchant, session, opening } = await openWorld();
    const open = await buildOpenPaymentChannelTransaction({ ...opening, rpcUrl: chain.url, signer: buyer.signer });
    await coSign(chain, open.transaction, operator.signer);
    const client = createClient()
      .use(signer(operator.signer))
      .use(solanaLocalRpc({ rpcUrl: chain.url, rpcSubscriptionsUrl: chain.webSocketUrl as never }));
    const send = (...instructions: unknown[]) =>
      client.sendTransaction(instructions.map((instruction) => addSignersToInstruction([operator.signer], instruction as Instruction)));
    const spending = new ActiveSession(open.channelId, session);
    const account = {
      address: open.channelId as Address,
      channel: { payer: buyer.address, payee: operator.address, mint: USDC, rentPayer: buyer.address },
      tokenProgram: TOKEN_PROGRAM,
    };
    const readVoucher = async (amount: bigint) => {
      const { data, signature } = await spending.signIncrement(amount);
      const voucher = { channelId: account.address, cumulativeAmount: BigInt(data.cumulativeAmount), expiresAt: BigInt(data.expiresAt) };
      const publicKey = getBase58Encoder().encode(session.address);
      const signed = {
        publicKey,
        signature: getBase58Encoder().encode(signature) as SignatureBytes,
        message: encodeVoucher(PROGRAM, voucher),
      };
      return { voucher, check: ed25519Instruction(signed) };
    };

    const first = await readVoucher(1_234n);
    await send(first.check, settleInstruction(PROGRAM, first.voucher));
    const last = await readVoucher(66n);
    const shares = [{ recipient: merchant.address, bps: 10_000 }];
    const distribution = distributeInstruction(PROGRAM, account, { shares, treasuryOwner: PROGRAM.treasuryOwners.devnet });
    await send(last.check, settleAndSealInstruction(PROGRAM, account, last.voucher), distribution);
    expect(await chain.held(merchant.tokenAccount)).toBe(1_300n);
    expect(await chain.held(buyer.tokenAccount)).toBe(5n * DEPOSIT - 1_300n);
    expect(await chain.dataOf(open.channelId as Address)).toEqual(TOMBSTONE);
    // The same opening under another blockhash always finds the address occupied.
    await chain.call('local_warp', 1);
    const again = await buildOpenPaymentChannelTransaction({ ...opening, rpcUrl: chain.url, signer: buyer.signer });
    await expect(coSign(chain, again.transaction, operator.signer)).rejects.toThrow('InstructionError');
  });

  it('the client derives the same addresses and signs the same bytes as this repository', async () => {
    const addresses = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => getAddressDecoder().decode(bytes));
    const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(addresses, addresses, addresses, addresses),
        u64,
        u64,
        async ([payer, payee, mint, authorizedSigner], salt, amount) => {
          const request = { cap: '1', currency: mint as string, operator: payee as string, recipient: payee as string };
          const open = await derivePaymentChannelOpen({ authorizedSigner, deposit: 1n, payer, request, salt });
          const seeds = { payer, payee, mint, authorizedSigner, salt, openSlot: null };
          expect(findChannelAddress(PROGRAM, seeds).address).toBe(open.channelId);
          const voucher = { channelId: payer, cumulativeAmount: amount, expiresAt: 4_102_444_800n };
          const theirs = voucherMessageBytes({ channelId: payer, cumulativeAmount: amount, expiresAt: 4_102_444_800 });
          expect([...encodeVoucher(PROGRAM, voucher)]).toEqual([...theirs]);
        },
      ),
      { numRuns: 25 },
    );
  });
});
