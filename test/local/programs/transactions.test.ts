import { type Address, getBase64EncodedWireTransaction, type Signature } from '@solana/kit';
import { getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { beforeEach, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS } from '#solana/programs/payment-channels/channel.ts';
import { openChannelInstruction, settleInstruction, topUpInstruction } from '#solana/programs/payment-channels/instructions.ts';
import { OPEN, SETTLE, TOP_UP } from '#solana/programs/payment-channels/layouts.ts';
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { newAddress, SOL, transferSol } from '../chain/wallets.ts';
import { type ChannelWorld, DEPOSIT, openChannel, prepareChannel } from './channel-world.ts';
import { openProgramChain, type ProgramChain, readOnly, swap, useServer } from './program-chain.ts';

const PROGRAM = CHANNEL_PROGRAMS.current;
const server = useServer();
let on: ProgramChain;
beforeEach(async () => {
  on = await openProgramChain(server());
});

async function readRecord(signature: Signature) {
  const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
  return (await on.chain.rpc.getTransaction(signature, options).send())!;
}

describe('transaction with a modelled program', () => {
  it('a later failing instruction undoes the complete transaction, which still pays its fee', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const { payer, operator } = world.parties;
    const friend = await newAddress();
    const before = await Promise.all([payer.address, operator.address, on.feePayer.address].map((address) => on.lamportsOf(address)));
    const failing = [
      transferSol(payer, friend, SOL / 10n),
      openChannelInstruction(PROGRAM, world.opening),
      transferSol(payer, friend, 5n * SOL),
    ];
    const signature = await on.land(...failing);
    const { meta } = await readRecord(signature);
    expect(meta).toMatchObject({ err: { InstructionError: [3n, { Custom: 1n }] }, fee: 15_000n });
    expect(await on.dataOf(world.address)).toBeNull();
    expect(await on.dataOf(world.escrow)).toBeNull();
    expect(await on.lamportsOf(friend)).toBe(0n);
    expect(await on.usdcOf(payer.address)).toBe(10n * DEPOSIT);
    const after = await Promise.all([payer.address, operator.address, on.feePayer.address].map((address) => on.lamportsOf(address)));
    expect(after).toEqual([before[0], before[1], before[2]! - 15_000n]);
  });

  it('a program refusal undoes the complete transaction, with its number, index and logged reason', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const friend = await newAddress();
    const refused = openChannelInstruction(PROGRAM, { ...world.opening, deposit: 11n * DEPOSIT });
    const { meta } = await readRecord(await on.land(transferSol(world.parties.payer, friend, SOL / 10n), refused));
    expect(meta?.err).toEqual({ InstructionError: [2n, { Custom: 1n }] });
    // Error numbers overlap between this program and the token program, and the logs show the failing one.
    expect(meta?.logMessages?.filter((line) => line.includes('failed'))).toEqual([
      `Program ${TOKEN_PROGRAM} failed: custom program error: 0x1`,
      `Program ${PROGRAM.address} failed: custom program error: 0x1`,
    ]);
    expect(await on.lamportsOf(friend)).toBe(0n);
    expect(await on.dataOf(world.address)).toBeNull();
  });

  it('the fee covers every signature, program-checked ones included, and the priority, as predicted', async () => {
    const world = await openChannel(PROGRAM, on);
    const price = getSetComputeUnitPriceInstruction({ microLamports: 1_000_000n });
    const settling = [price, await world.verified(world.voucher(5n)), settleInstruction(PROGRAM, world.voucher(5n))];
    const { wire, signature, transaction } = await on.chain.sign(on.feePayer, on.signed(...settling));
    const message = Buffer.from(transaction.messageBytes).toString('base64');
    const { value: foretold } = await on.chain.result<{ value: number }>('getFeeForMessage', message);
    const before = await on.lamportsOf(on.feePayer.address);
    await on.chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    const { meta } = await readRecord(signature);
    expect(meta!.fee).toBe(BigInt(foretold));
    expect(before - (await on.lamportsOf(on.feePayer.address))).toBe(meta!.fee);
    // Two signatures, and one lamport for each of the million compute units that these tests request.
    expect((meta!.fee - 10_000n) / 1_000n).toBe(1_000n);
  });

  it('a transaction lands nowhere if its payer cannot pay or a signature is missing', async () => {
    const world = await openChannel(PROGRAM, on);
    const topUp = topUpInstruction(PROGRAM, world.account, 1n);
    const poor = await on.openWallet({ lamports: 5_000n, usdc: 5n });
    await expect(on.chain.send(poor, on.signed(topUp))).rejects.toThrow();
    const { transaction } = await on.chain.sign(on.feePayer, on.signed(topUp));
    const forged = { ...transaction, signatures: { ...transaction.signatures, [world.parties.payer.address]: new Uint8Array(64) } };
    const wire = getBase64EncodedWireTransaction(forged as never);
    const simulated = await on.chain.call('simulateTransaction', wire, { encoding: 'base64', sigVerify: true });
    expect(simulated.error?.code).toBe(-32003);
    await on.chain.result('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
    expect((await world.read()).deposit).toBe(DEPOSIT);
  });

  it('a transaction sent several times lands once', async () => {
    const world = await openChannel(PROGRAM, on);
    const { wire } = await on.chain.sign(on.feePayer, on.signed(topUpInstruction(PROGRAM, world.account, 1n)));
    for (let sent = 0; sent < 3; sent += 1) {
      await on.chain.call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
    }
    expect((await world.read()).deposit).toBe(DEPOSIT + 1n);
  });

  it('a simulation has no effect and shows the resulting state', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const { wire } = await on.chain.sign(on.feePayer, on.signed(openChannelInstruction(PROGRAM, world.opening)));
    const before = await on.lamportsOf(world.opening.rentPayer);
    const options = { encoding: 'base64', innerInstructions: true, accounts: { encoding: 'base64', addresses: [world.address] } };
    const { value } = await on.chain.result<{ value: Record<string, unknown> }>('simulateTransaction', wire, options);
    expect(value).toMatchObject({ err: null, accounts: [{ owner: PROGRAM.address, space: PROGRAM.channelBytes }] });
    expect((value.innerInstructions as unknown[]).length).toBe(1);
    expect(await on.dataOf(world.address)).toBeNull();
    expect(await on.lamportsOf(world.opening.rentPayer)).toBe(before);
    await world.open();
  });

  it('a simulation without signature checks runs on request', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const { wire } = await on.chain.sign(on.feePayer, on.signed(openChannelInstruction(PROGRAM, world.opening)));
    const unsignedWire = Buffer.from(wire, 'base64')
      .fill(0, 1, 1 + 64 * 3)
      .toString('base64');
    const options = { encoding: 'base64', replaceRecentBlockhash: true };
    expect(await on.chain.result('simulateTransaction', unsignedWire, options)).toMatchObject({ value: { err: null } });
  });
});

describe('inner calls of a modelled program', () => {
  it('inner calls are recorded in order and depth, with transaction keys and token balances', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const signature = await on.send(openChannelInstruction(PROGRAM, world.opening));
    const { meta, transaction } = await readRecord(signature);
    const keys = transaction.message.accountKeys;
    expect(meta!.innerInstructions!.map(({ index }) => index)).toEqual([1]);
    const calls = meta!.innerInstructions![0]!.instructions.map((call) => [keys[call.programIdIndex], call.stackHeight]);
    expect(calls).toEqual([
      ...Array(3).fill([SYSTEM_PROGRAM, 2]),
      [ASSOCIATED_TOKEN_PROGRAM, 2],
      [TOKEN_PROGRAM, 3],
      [SYSTEM_PROGRAM, 3],
      [TOKEN_PROGRAM, 3],
      [TOKEN_PROGRAM, 3],
      [TOKEN_PROGRAM, 2],
      [PROGRAM.address, 2],
    ]);
    expect(meta!.logMessages!.filter((line) => line.includes('invoke'))).toEqual([
      `Program ${COMPUTE_BUDGET_PROGRAM} invoke [1]`,
      `Program ${PROGRAM.address} invoke [1]`,
      ...calls.map(([program, height]) => `Program ${program} invoke [${height}]`),
    ]);
    const held = (balances: NonNullable<typeof meta>['postTokenBalances']) =>
      Object.fromEntries((balances ?? []).map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount as string]));
    expect(held(meta!.preTokenBalances)).toEqual({ [world.opening.payer]: '10000000' });
    expect(held(meta!.postTokenBalances)).toEqual({ [world.opening.payer]: '9000000', [world.address]: '1000000' });
    const [listed] = await on.chain.rpc.getSignaturesForAddress(world.address, { commitment: 'confirmed' }).send();
    expect(listed).toMatchObject({ signature, err: null });
  });

  it('an inner call has only its caller’s rights, and its accounts must be named by the caller', async () => {
    const world = await openChannel(PROGRAM, on);
    const other = await prepareChannel(PROGRAM, on, { parties: world.parties, salt: 8n });
    const opening = openChannelInstruction(PROGRAM, other.opening);
    expect(await on.judge(swap(opening, OPEN, 'associatedTokenProgram', await newAddress()))).toBe('MissingAccount');
    const topUp = topUpInstruction(PROGRAM, world.account, 1n);
    expect(await on.judge(readOnly(topUp, TOP_UP, 'escrow'))).toBe('PrivilegeEscalation');
    expect(await on.judge(readOnly(topUp, TOP_UP, 'channel'))).toBe('ReadonlyDataModified');
    const settling = [await world.verified(world.voucher(5n)), readOnly(settleInstruction(PROGRAM, world.voucher(5n)), SETTLE, 'channel')];
    expect(await on.judge(...settling)).toBe('ReadonlyDataModified');
  });
});

describe('accounts of a modelled program', () => {
  it('the token accounts of the treasuries exist at genesis', async () => {
    for (const { treasuryOwners } of Object.values(CHANNEL_PROGRAMS)) expect(await on.usdcOf(treasuryOwners.devnet)).toBe(0n);
  });

  it('accounts are found by program, length and bytes', async () => {
    const worlds = await Promise.all([1n, 2n].map((salt) => openChannel(PROGRAM, on, { salt })));
    const find = async (world: ChannelWorld): Promise<Address[]> => {
      const memcmp = { offset: 88n, bytes: world.opening.payer, encoding: 'base58' } as const;
      const filters = [{ dataSize: BigInt(PROGRAM.channelBytes) }, { memcmp }] as never;
      const found = await on.chain.rpc.getProgramAccounts(PROGRAM.address, { encoding: 'base64', filters, commitment: 'processed' }).send();
      return found.map(({ pubkey }) => pubkey);
    };
    for (const world of worlds) expect(await find(world)).toEqual([world.address]);
  });

  it('accounts may be named through a lookup table', async () => {
    const world = await prepareChannel(PROGRAM, on);
    const opening = openChannelInstruction(PROGRAM, world.opening);
    const tableAddresses = opening
      .accounts!.map(({ address }) => address)
      .filter((address) => ![PROGRAM.address, world.opening.payer, world.opening.rentPayer].includes(address));
    const signature = await on.sendWithLookupTable(tableAddresses, opening);
    const { meta } = await readRecord(signature);
    expect(meta).toMatchObject({ err: null });
    expect(meta!.loadedAddresses!.writable).toContain(world.address);
    expect(await world.read()).toMatchObject({ status: 'open', deposit: DEPOSIT });
  });
});
