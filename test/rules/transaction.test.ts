import { address, createNoopSigner } from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { describe, expect, it } from 'vitest';
import { base58, utf8 } from '#core/encoding.ts';
import { ATA_PROGRAM, MEMO_PROGRAM, MEMO_PROGRAMS, NETWORKS, parseWallet, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '#solana/assets.ts';
import { matchPayment } from '#solana/match.ts';
import {
  isNonceAdvance,
  parseAtaCreation,
  parseMemo,
  parseTokenTransfer,
  parseTransaction,
  type RpcInstruction,
  type RpcTransaction,
  svcMemos,
} from '#solana/transaction.ts';

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill));
const MINT = NETWORKS.devnet.usdcMint;
const [BUYER, SOURCE, MERCHANT, REFERENCE, STRANGER] = [key(1), key(2), key(3), key(4), key(5)];
const KEYS = [BUYER, SOURCE, MERCHANT, MINT, TOKEN_PROGRAM, MEMO_PROGRAM, REFERENCE];

const u64 = (units: bigint) => new Uint8Array(new BigUint64Array([units]).buffer);
const checked = (units: bigint) => base58.encode(Uint8Array.of(12, ...u64(units), 6));
const transfer = (units: bigint, accounts = [1, 3, 2, 0, 6]): RpcInstruction => ({ programIdIndex: 4, accounts, data: checked(units) });
const memo = (text: string, programIdIndex = 5): RpcInstruction => ({ programIdIndex, accounts: [], data: base58.encode(utf8(text)) });
const balance = (accountIndex: number, amount: string, mint: string = MINT) => ({ accountIndex, mint, uiTokenAmount: { amount } });

interface Raw {
  keys?: string[];
  instructions?: RpcInstruction[];
  meta?: Partial<NonNullable<RpcTransaction['meta']>> | null;
  blockTime?: number | null;
}
const raw = ({
  keys = KEYS,
  instructions = [memo('svc:nonce'), transfer(1_000_000n)],
  meta = {},
  blockTime = 1_700_000_000,
}: Raw = {}): RpcTransaction => ({
  slot: 42,
  blockTime,
  transaction: { signatures: ['signature'], message: { accountKeys: keys, header: { numRequiredSignatures: 1 }, instructions } },
  meta:
    meta === null
      ? null
      : {
          err: null,
          preTokenBalances: [balance(1, '5000000'), balance(2, '7')],
          postTokenBalances: [balance(1, '4000000'), balance(2, '1000007')],
          innerInstructions: [],
          loadedAddresses: { writable: [], readonly: [] },
          ...meta,
        },
});
const parse = (options?: Raw) => parseTransaction('signature', raw(options));

describe('parseTransaction', () => {
  it('a transaction yields memo, transfer, balance changes and fee payer', () => {
    expect(parse()).toEqual({
      signature: 'signature',
      slot: 42,
      blockTimeSeconds: 1_700_000_000,
      failed: false,
      feePayer: BUYER,
      memos: ['svc:nonce'],
      transfers: [{ source: SOURCE, mint: MINT, destination: MERCHANT, authority: BUYER, units: 1_000_000n }],
      tokenDeltas: new Map([
        [SOURCE, { mint: MINT, delta: -1_000_000n }],
        [MERCHANT, { mint: MINT, delta: 1_000_000n }],
      ]),
      lamportTransfers: [],
      lamportDeltas: new Map(),
      events: [],
      channels: new Map(),
    });
  });

  it('accounts from lookup tables follow the static ones: writable first, then read-only', () => {
    const parsed = parse({
      keys: [BUYER, TOKEN_PROGRAM],
      instructions: [{ programIdIndex: 1, accounts: [2, 4, 3, 0], data: checked(9n) }, memo('svc:nonce', 5)],
      meta: {
        loadedAddresses: { writable: [SOURCE, MERCHANT], readonly: [MINT, MEMO_PROGRAM] },
        preTokenBalances: [balance(2, '9')],
        postTokenBalances: [balance(2, '0'), balance(3, '9')],
      },
    });
    expect(parsed.transfers).toEqual([{ source: SOURCE, mint: MINT, destination: MERCHANT, authority: BUYER, units: 9n }]);
    expect(parsed.memos).toEqual(['svc:nonce']);
    expect(parsed.tokenDeltas.get(MERCHANT)).toEqual({ mint: MINT, delta: 9n });
  });

  it('an account that did not exist before, or does not after, counts as zero', () => {
    const created = parse({ meta: { preTokenBalances: [balance(1, '10')], postTokenBalances: [balance(1, '4'), balance(2, '6')] } });
    expect(created.tokenDeltas.get(MERCHANT)).toEqual({ mint: MINT, delta: 6n });
    const closed = parse({ meta: { preTokenBalances: [balance(1, '10'), balance(2, '6')], postTokenBalances: [balance(2, '16')] } });
    expect(closed.tokenDeltas.get(SOURCE)).toEqual({ mint: MINT, delta: -10n });
    expect(parse({ meta: { preTokenBalances: null, postTokenBalances: null } }).tokenDeltas.size).toBe(0);
    expect(parse({ meta: { preTokenBalances: undefined, postTokenBalances: undefined } }).tokenDeltas.size).toBe(0);
  });

  it('amounts beyond 2^53 stay exact', () => {
    const parsed = parse({
      instructions: [transfer(2n ** 64n - 1n)],
      meta: { preTokenBalances: [balance(2, '1')], postTokenBalances: [balance(2, '18446744073709551615')] },
    });
    expect(parsed.transfers[0]!.units).toBe(2n ** 64n - 1n);
    expect(parsed.tokenDeltas.get(MERCHANT)!.delta).toBe(2n ** 64n - 2n);
  });

  it('a transaction is failed if the node says so or says nothing', () => {
    expect(parse({ meta: { err: { InstructionError: [1, { Custom: 1 }] } } }).failed).toBe(true);
    expect(parse({ meta: { err: 'AccountNotFound' } }).failed).toBe(true);
    const unknown = parse({ meta: null });
    expect(unknown.failed).toBe(true);
    expect(unknown.tokenDeltas.size).toBe(0);
    expect(parse().failed).toBe(false);
  });

  it('the block time may be null', () => {
    expect(parse({ blockTime: null }).blockTimeSeconds).toBeNull();
  });

  it('transfers of other programs are listed, but their memos are not', () => {
    const parsed = parse({
      instructions: [{ programIdIndex: 6, accounts: [], data: '' }],
      meta: { innerInstructions: [{ index: 0, instructions: [transfer(3n), memo('svc:nonce')] }] },
    });
    expect(parsed.transfers.map(({ units }) => units)).toEqual([3n]);
    expect(parsed.memos).toEqual([]);
  });

  it('a memo of a program called by the transaction cannot claim a payment', () => {
    const expected = {
      memo: 'svc:nonce',
      mint: MINT,
      destination: MERCHANT,
      priceUnits: 1_000_000n,
      fee: null,
      notBeforeSeconds: 0,
      notAfterSeconds: 2_000_000_000,
    };
    const spoken = (text: string) => ({ innerInstructions: [{ index: 0, instructions: [memo(text)] }] });
    expect(matchPayment(parse({ meta: spoken('svc:other') }), expected).ok).toBe(true);
    expect(matchPayment(parse({ instructions: [transfer(1_000_000n)], meta: spoken('svc:nonce') }), expected)).toMatchObject({
      reason: 'memo_missing',
    });
  });

  it('indices out of range yield no payment', () => {
    const parsed = parse({
      instructions: [
        { programIdIndex: 99, accounts: [1, 2], data: checked(5n) },
        { programIdIndex: 4, accounts: [1, 3, 99, 0], data: checked(5n) },
      ],
      meta: { preTokenBalances: [], postTokenBalances: [balance(99, '5')] },
    });
    expect(parsed.transfers).toEqual([]);
    expect(parsed.tokenDeltas.size).toBe(0);
  });
});

describe('instruction parsers', () => {
  const ix = (programId: string, accounts: string[], data: Iterable<number>) => ({ programId, accounts, data: Uint8Array.from(data) });

  it('a transfer of the token program’s client is parsed, references included', () => {
    const { accounts, data, programAddress } = getTransferCheckedInstruction({
      source: address(SOURCE),
      mint: address(MINT),
      destination: address(MERCHANT),
      authority: createNoopSigner(address(BUYER)),
      amount: 12_345n,
      decimals: 6,
    });
    const names = [...accounts.map((account) => account.address as string), REFERENCE];
    expect(parseTokenTransfer(ix(programAddress, names, data))).toEqual({
      source: SOURCE,
      mint: MINT,
      destination: MERCHANT,
      authority: BUYER,
      units: 12_345n,
    });
  });

  it('an old-form transfer is parsed with an unknown mint', () => {
    expect(parseTokenTransfer(ix(TOKEN_PROGRAM, [SOURCE, MERCHANT, BUYER], [3, ...u64(7n)]))).toEqual({
      source: SOURCE,
      mint: null,
      destination: MERCHANT,
      authority: BUYER,
      units: 7n,
    });
  });

  it('another program, kind or length is no transfer', () => {
    const accounts = [SOURCE, MINT, MERCHANT, BUYER];
    const fullData = [12, ...u64(7n), 6];
    expect(parseTokenTransfer(ix(TOKEN_PROGRAM, accounts, fullData))).not.toBeNull();
    expect(parseTokenTransfer(ix(STRANGER, accounts, fullData))).toBeNull();
    expect(parseTokenTransfer(ix('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', accounts, fullData))).toBeNull();
    for (let length = 0; length < fullData.length; length++)
      expect(parseTokenTransfer(ix(TOKEN_PROGRAM, accounts, fullData.slice(0, length)))).toBeNull();
    for (let count = 0; count < 4; count++) expect(parseTokenTransfer(ix(TOKEN_PROGRAM, accounts.slice(0, count), fullData))).toBeNull();
    for (const kind of [0, 4, 7, 8, 9, 14, 255])
      expect(parseTokenTransfer(ix(TOKEN_PROGRAM, accounts, [kind, ...fullData.slice(1)]))).toBeNull();
  });

  it('a memo of every deployed memo program is read, and of no other program', () => {
    expect(MEMO_PROGRAMS).toHaveLength(3);
    for (const program of MEMO_PROGRAMS) expect(parseMemo(ix(program, [], utf8('svc:ü')))).toBe('svc:ü');
    expect(parseMemo(ix(STRANGER, [], utf8('svc:x')))).toBeNull();
    expect(parseMemo(ix(MEMO_PROGRAM, [], []))).toBe('');
    expect(parseMemo(ix(MEMO_PROGRAM, [], [0xff, 0xfe]))).not.toBeNull();
  });

  it('a memo is compared byte for byte: text before `svc:` makes another memo', () => {
    for (const before of [[0x20], [0x00], [0xff], [0xef, 0xbb, 0xbf]]) {
      const text = parseMemo(ix(MEMO_PROGRAM, [], [...before, ...utf8('svc:nonce')]));
      expect(svcMemos([text!]), before.join(' ')).toEqual([]);
    }
  });

  it('only the two forms without further arguments create a token account', () => {
    const accounts = [BUYER, SOURCE, BUYER, MINT];
    const created = { payer: BUYER, ata: SOURCE, owner: BUYER, mint: MINT };
    for (const data of [[], [0], [1]]) expect(parseAtaCreation(ix(ATA_PROGRAM, accounts, data))).toEqual(created);
    for (const data of [[2], [1, 0]]) expect(parseAtaCreation(ix(ATA_PROGRAM, accounts, data))).toBeNull();
    expect(parseAtaCreation(ix(STRANGER, accounts, [1]))).toBeNull();
    expect(parseAtaCreation(ix(ATA_PROGRAM, accounts.slice(0, 3), [1]))).toBeNull();
  });

  it('a nonce advance is one only in the system program', () => {
    expect(isNonceAdvance(ix(SYSTEM_PROGRAM, [], [4, 0, 0, 0]))).toBe(true);
    expect(isNonceAdvance(ix(SYSTEM_PROGRAM, [], [2, 0, 0, 0]))).toBe(false);
    expect(isNonceAdvance(ix(STRANGER, [], [4, 0, 0, 0]))).toBe(false);
  });
});

describe('parseWallet', () => {
  it('a wallet address is 32 bytes of base58 on the curve', () => {
    const wallet = '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x';
    expect(parseWallet(wallet)).toEqual({ ok: true, value: wallet });
    for (const text of ['', wallet.slice(2), `${wallet}1`, `${wallet} `, wallet.replace('6', '0')])
      expect(parseWallet(text), text).toEqual({ ok: false, reason: 'not_an_address' });
    expect(parseWallet(base58.encode(Uint8Array.of(2, ...new Uint8Array(31))))).toEqual({ ok: false, reason: 'off_curve' });
  });
});
