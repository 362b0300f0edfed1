import type { Address, Lamports } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { describe, expect, it } from 'vitest';
import { deriveTokenAddress, newAddress, SOL, type TestChain, transferSol, USDC, withChain } from './wallets.ts';

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

let chain: TestChain;
withChain((opened) => {
  chain = opened;
});

describe('local_putAccounts', () => {
  it('an account is stored as given and replaces the previous one', async () => {
    const owner = await chain.openWallet({ usdc: 7n });
    const address = await deriveTokenAddress(owner.address);
    const read = async () => (await chain.rpc.getAccountInfo(address, { encoding: 'base64' }).send()).value!;
    const before = await read();
    const frozen = Buffer.from(before.data[0], 'base64');
    frozen[108] = 2;
    expect(await chain.result('local_putAccounts', [[address, TOKEN_PROGRAM, frozen.toString('base64')]])).toBe(1);
    expect(await read()).toMatchObject({ owner: TOKEN_PROGRAM, data: [frozen.toString('base64'), 'base64'] });
    expect((await chain.call('local_putAccounts', [[address, TOKEN_PROGRAM]])).error).toMatchObject({ code: -32602 });
  });
});

describe('account encodings', () => {
  it('a mint is parsed as by a node', async () => {
    await chain.openWallet({ usdc: 7n });
    const { value } = await chain.rpc.getAccountInfo(USDC, { encoding: 'jsonParsed' }).send();
    expect(value).toMatchObject({ owner: TOKEN_PROGRAM, executable: false, space: 82n });
    expect(value?.data).toMatchObject({
      program: 'spl-token',
      space: 82n,
      parsed: { type: 'mint', info: { decimals: 6, isInitialized: true, freezeAuthority: null, supply: '7' } },
    });
    expect((await chain.rpc.getTokenSupply(USDC).send()).value).toMatchObject({ amount: '7', uiAmountString: '0.000007' });
  });

  it('a token account is parsed with its delegate, if any', async () => {
    const owner = await chain.openWallet({ usdc: 1_500_000n });
    const address = await deriveTokenAddress(owner.address);
    const parsed = async () => (await chain.rpc.getAccountInfo(address, { encoding: 'jsonParsed' }).send()).value?.data;
    const info = {
      isNative: false,
      mint: USDC,
      owner: owner.address,
      state: 'initialized',
      tokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' },
    };
    expect(await parsed()).toEqual({ program: 'spl-token', space: 165n, parsed: { type: 'account', info } });

    const delegate = await newAddress();
    await chain.send(owner, [getApproveInstruction({ source: address, delegate, owner, amount: 5n })]);
    expect(await parsed()).toMatchObject({ parsed: { info: { delegate, delegatedAmount: { amount: '5' } } } });
  });

  it('data slices are cut, a missing account is null, and unparsable data falls back to base64', async () => {
    const owner = await chain.openWallet({ usdc: 9n });
    const address = await deriveTokenAddress(owner.address);
    const slice = { encoding: 'base64', dataSlice: { offset: 64, length: 8 } } as const;
    const { value } = await chain.rpc.getAccountInfo(address, slice).send();
    expect(Buffer.from(value!.data[0], 'base64').readBigUInt64LE()).toBe(9n);
    const several = await chain.rpc.getMultipleAccounts([address, await newAddress(), owner.address], { encoding: 'jsonParsed' }).send();
    expect(several.value[1]).toBeNull();
    expect(several.value[2]).toMatchObject({ data: ['', 'base64'], lamports: SOL });
    expect((await chain.call('getAccountInfo', address, { encoding: 'base58' })).error?.code).toBe(-32600);
    const short = { encoding: 'base58', dataSlice: { offset: 0, length: 32 } };
    expect(await chain.result('getAccountInfo', address, short)).toMatchObject({ value: { data: [USDC, 'base58'] } });
  });
});

describe('clock account', () => {
  it('the clock account contains the current chain time and slot, also after they were moved', async () => {
    const read = async () => {
      const { value } = await chain.result<{ value: { data: [string, string] } }>(
        'getAccountInfo',
        'SysvarC1ock11111111111111111111111111111111',
        { encoding: 'base64' },
      );
      const data = Buffer.from(value.data[0], 'base64');
      return { slot: Number(data.readBigUInt64LE(0)), unixTimestamp: Number(data.readBigInt64LE(32)) };
    };
    await chain.result('local_mode', 'manual');
    expect(await read()).toEqual(await chain.result('local_time'));
    await chain.result('local_warp', 3_600);
    expect(await read()).toEqual(await chain.result('local_time'));
  });
});

describe('token accounts of an owner', () => {
  it('token accounts are listed by mint and by program, without other mints', async () => {
    const owner = await chain.openWallet({ usdc: 3n });
    await chain.openWallet({ usdc: 4n });
    const fakeMint = await newAddress();
    const fakeAccount = await chain.result('local_fundToken', fakeMint, owner.address, '1000', 6);
    const byMint = await chain.rpc.getTokenAccountsByOwner(owner.address, { mint: USDC }, { encoding: 'jsonParsed' }).send();
    expect(byMint.value.map(({ pubkey }) => pubkey)).toEqual([await deriveTokenAddress(owner.address)]);
    expect(byMint.value[0]?.account.data.parsed.info.tokenAmount.amount).toBe('3');
    const byProgram = await chain.rpc.getTokenAccountsByOwner(owner.address, { programId: TOKEN_PROGRAM }, { encoding: 'base64' }).send();
    expect(byProgram.value.map(({ pubkey }) => pubkey).sort()).toEqual([await deriveTokenAddress(owner.address), fakeAccount].sort());
    expect((await chain.call('getTokenAccountsByOwner', owner.address, { mint: await newAddress() })).error?.code).toBe(-32602);
  });

  it('token accounts are found with program account filters', async () => {
    const listAll = () =>
      chain.rpc.getProgramAccounts(TOKEN_PROGRAM, { encoding: 'base64', filters: [{ dataSize: 165n }], withContext: true }).send();
    const fromGenesis = (await listAll()).value.length;
    const owner = await chain.openWallet({ usdc: 3n });
    await chain.openWallet({ usdc: 4n });
    const search = (bytes: string, encoding: string) =>
      chain.result<{ pubkey: string }[]>('getProgramAccounts', TOKEN_PROGRAM, {
        encoding: 'base64',
        filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes, encoding } }],
      });
    const expected = [await deriveTokenAddress(owner.address)];
    expect((await search(owner.address, 'base58')).map(({ pubkey }) => pubkey)).toEqual(expected);
    const ownerBase64 = (
      await chain.result<{ value: { data: string[] } }>('getAccountInfo', expected[0], {
        encoding: 'base64',
        dataSlice: { offset: 32, length: 32 },
      })
    ).value.data[0]!;
    expect((await search(ownerBase64, 'base64')).map(({ pubkey }) => pubkey)).toEqual(expected);
    expect((await listAll()).value).toHaveLength(fromGenesis + 2);
  });
});

describe('local funding', () => {
  it('funding adds up and creates the token account only once', async () => {
    const owner = await newAddress();
    const first = await chain.result('local_fundUsdc', owner, 5);
    expect(await chain.result('local_fundUsdc', owner, '6')).toBe(first);
    expect((await chain.rpc.getTokenAccountBalance(first as Address).send()).value.amount).toBe('11');
    await Promise.all(Array.from({ length: 20 }, () => chain.result('local_fundUsdc', owner, 1)));
    expect((await chain.rpc.getTokenAccountBalance(first as Address).send()).value.amount).toBe('31');
    expect((await chain.rpc.getTokenSupply(USDC).send()).value.amount).toBe('31');
  });

  it('amounts that are not unsigned 64-bit integers are refused', async () => {
    const owner = await newAddress();
    const refused = await Promise.all(
      [-1, 1.5, '1e3', '18446744073709551616', null].map((amount) => chain.call('local_fundUsdc', owner, amount)),
    );
    expect(refused.map(({ error }) => error?.code)).toEqual(Array(5).fill(-32602));
  });

  it('an airdrop is a transaction in the history with a new signature each time', async () => {
    const recipient = await newAddress();
    const airdrop = () => chain.rpc.requestAirdrop(recipient, SOL as Lamports).send();
    const signatures = [await airdrop(), await airdrop()];
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(2n * SOL);
    expect(new Set(signatures).size).toBe(2);
    expect((await chain.rpc.getSignatureStatuses(signatures).send()).value).toMatchObject([{ err: null }, { err: null }]);
    expect(await chain.result('getSignaturesForAddress', recipient, { commitment: 'confirmed' })).toHaveLength(2);
  });
});

describe('64-bit amounts', () => {
  it('amounts stay exact beyond the range of a double, in requests and answers', async () => {
    const owner = await newAddress();
    const amount = 2n ** 60n + 1n;
    const body = `{"jsonrpc":"2.0","id":1,"method":"local_fundSol","params":["${owner}",${amount}]}`;
    expect(await (await chain.post(body)).text()).toContain(`"result":${amount}`);
    expect((await chain.rpc.getBalance(owner).send()).value).toBe(amount);
    const text = await (
      await chain.post({ jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params: [owner, { encoding: 'base64' }] })
    ).text();
    expect(text).toContain(`"lamports":${amount},`);
    expect(text).toContain('"rentEpoch":18446744073709551615');

    const payer = await chain.openWallet({ lamports: amount });
    const signature = await chain.send(payer, [transferSol(payer, await newAddress(), 2n ** 59n + 1n)]);
    const recorded = await chain.rpc
      .getTransaction(signature, { commitment: 'confirmed', encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
      .send();
    expect(recorded?.meta?.postBalances[1]).toBe(2n ** 59n + 1n);
    expect(recorded?.transaction.message.instructions[0]).toMatchObject({
      parsed: { type: 'transfer', info: { lamports: 2n ** 59n + 1n } },
    });
  });

  it('a USDC balance holds up to the 64-bit maximum, and more is refused', async () => {
    const owner = await newAddress();
    const most = (2n ** 64n - 1n).toString();
    await chain.result('local_fundUsdc', owner, most);
    expect((await chain.rpc.getTokenAccountBalance(await deriveTokenAddress(owner)).send()).value.amount).toBe(most);
    expect((await chain.call('local_fundUsdc', owner, 1)).error?.code).toBe(-32602);
  });
});
