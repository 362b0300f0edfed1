import { type EncodedAccount, getBase58Decoder, type ReadonlyUint8Array } from '@solana/kit';
import { AccountState, getMintDecoder, getTokenDecoder } from '@solana-program/token';
import { RPC_CODE, RpcError } from './ledger/errors.ts';
import type { Machine } from './ledger/machine.ts';
import { TOKEN_PROGRAM, U64_MAX } from './ledger/network.ts';
import { findDecimals, isMint, isTokenAccount, toUiAmount } from './ledger/tokens.ts';
import { type Config, readChoice, readConfig, readCount } from './params.ts';

const ENCODINGS = ['binary', 'base58', 'base64', 'jsonParsed'] as const;
const BASE58_BYTES_MAX = 128;

export interface AccountEncoding {
  encoding: (typeof ENCODINGS)[number];
  dataSlice: { offset: number; length: number } | null;
}

/** Reads `encoding` and `dataSlice`. A node's default is `binary`, the old bare base58 string. */
export function readAccountEncoding(config: Config, fallback: AccountEncoding['encoding'] = 'binary'): AccountEncoding {
  const slice = config.dataSlice === undefined || config.dataSlice === null ? null : readConfig(config.dataSlice);
  return {
    encoding: readChoice(config.encoding, ENCODINGS, fallback),
    dataSlice: slice === null ? null : { offset: readCount(slice.offset), length: readCount(slice.length) },
  };
}

export function encodeAccount(
  machine: Machine,
  account: EncodedAccount,
  { encoding, dataSlice }: AccountEncoding,
): Record<string, unknown> {
  const parsed = encoding === 'jsonParsed' ? parseAccount(machine, account) : null;
  const { data } = account;
  const shown = dataSlice === null ? data : data.slice(dataSlice.offset, dataSlice.offset + dataSlice.length);
  return {
    data: parsed ?? encodeBytes(shown, encoding),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: U64_MAX,
    space: data.length,
  };
}

function encodeBytes(bytes: ReadonlyUint8Array, encoding: AccountEncoding['encoding']): unknown {
  if (encoding === 'base64' || encoding === 'jsonParsed') return [Buffer.from(bytes).toString('base64'), 'base64'];
  if (bytes.length > BASE58_BYTES_MAX) {
    const advice = 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.';
    throw new RpcError(RPC_CODE.invalidRequest, advice);
  }
  const text = getBase58Decoder().decode(bytes);
  return encoding === 'binary' ? text : [text, 'base58'];
}

function parseAccount(machine: Machine, account: EncodedAccount): unknown {
  const program = account.programAddress === TOKEN_PROGRAM ? 'spl-token' : 'spl-token-2022';
  const wrap = (type: string, info: unknown) => ({ program, parsed: { type, info }, space: account.data.length });
  if (isMint(account)) return wrap('mint', parseMint(account));
  if (!isTokenAccount(account)) return null;
  const info = parseTokenAccount(machine, account);
  return info === null ? null : wrap('account', info);
}

function parseMint(account: EncodedAccount): unknown {
  const mint = getMintDecoder().decode(account.data);
  return {
    decimals: mint.decimals,
    freezeAuthority: mint.freezeAuthority.__option === 'Some' ? mint.freezeAuthority.value : null,
    isInitialized: mint.isInitialized,
    mintAuthority: mint.mintAuthority.__option === 'Some' ? mint.mintAuthority.value : null,
    supply: mint.supply.toString(),
  };
}

function parseTokenAccount(machine: Machine, account: EncodedAccount): unknown {
  const token = getTokenDecoder().decode(account.data);
  const decimals = findDecimals(machine, token.mint);
  if (decimals === null) return null;
  const { delegate, closeAuthority, isNative } = token;
  return {
    isNative: isNative.__option === 'Some',
    mint: token.mint,
    owner: token.owner,
    state: token.state === AccountState.Frozen ? 'frozen' : 'initialized',
    tokenAmount: toUiAmount(token.amount, decimals),
    ...(delegate.__option === 'Some' ? { delegate: delegate.value, delegatedAmount: toUiAmount(token.delegatedAmount, decimals) } : {}),
    ...(isNative.__option === 'Some' ? { rentExemptReserve: toUiAmount(isNative.value, decimals) } : {}),
    ...(closeAuthority.__option === 'Some' ? { closeAuthority: closeAuthority.value } : {}),
  };
}
