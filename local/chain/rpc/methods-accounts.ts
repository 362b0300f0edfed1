import { type Address, type EncodedAccount, getBase58Encoder } from '@solana/kit';
import type { Chain } from '../chain.ts';
import { type AccountEncoding, encodeAccount, readAccountEncoding } from '../encode-account.ts';
import { invalidParams } from '../ledger/errors.ts';
import { findDecimals, isMint, isTokenAccount, isTokenProgram, readHolding, toUiAmount } from '../ledger/tokens.ts';
import { type Config, readAddress, readAddresses, readChoice, readConfig, readCount, readFlag, readList } from '../params.ts';
import { type Method, withContext } from './methods-cluster.ts';

const ACCOUNTS_MAX = 100;
const ACCOUNT_BYTES_MAX = 10_485_760;
const FILTERS_MAX = 4;

/** Methods that read accounts. Every commitment returns the latest state. */
export const accountMethods: Readonly<Record<string, Method>> = {
  getBalance(chain, [address, config]) {
    return withContext(chain, readConfig(config), chain.machine.findAccount(readAddress(address))?.lamports ?? 0n);
  },
  getAccountInfo(chain, [address, second]) {
    const config = readConfig(second);
    return withContext(chain, config, encodeFound(chain, readAddress(address), readAccountEncoding(config)));
  },
  getMultipleAccounts(chain, [addresses, second]) {
    const config = readConfig(second);
    const encoding = readAccountEncoding(config, 'base64');
    const accounts = readAddresses(addresses, ACCOUNTS_MAX).map((address) => encodeFound(chain, address, encoding));
    return withContext(chain, config, accounts);
  },
  getTokenAccountBalance(chain, [address, config]) {
    const account = chain.machine.findAccount(readAddress(address));
    if (account === null) throw invalidParams('Invalid param: could not find account');
    if (!isTokenAccount(account)) throw invalidParams('Invalid param: not a Token account');
    const { mint, amount } = readHolding(account.data);
    const decimals = findDecimals(chain.machine, mint);
    if (decimals === null) throw invalidParams('Invalid param: could not find mint');
    return withContext(chain, readConfig(config), toUiAmount(amount, decimals));
  },
  getTokenSupply(chain, [address, config]) {
    const account = chain.machine.findAccount(readAddress(address));
    if (account === null) throw invalidParams('Invalid param: could not find account');
    if (!isMint(account)) throw invalidParams('Invalid param: not a Token mint');
    const data = Buffer.from(account.data);
    return withContext(chain, readConfig(config), toUiAmount(data.readBigUInt64LE(36), data[44]!));
  },
  getTokenAccountsByOwner(chain, [first, filter, third]) {
    const owner = readAddress(first);
    const config = readConfig(third);
    const encoding = readAccountEncoding(config);
    const { program, mint } = readTokenFilter(chain, readConfig(filter));
    const accounts = chain.machine.listProgramAccounts(program).filter((account) => {
      if (!isTokenAccount(account)) return false;
      const holding = readHolding(account.data);
      return holding.owner === owner && (mint === null || holding.mint === mint);
    });
    return withContext(chain, config, encodeKeyed(chain, accounts, encoding));
  },
  getProgramAccounts(chain, [program, second]) {
    const config = readConfig(second);
    const filters = readList(config.filters ?? [], FILTERS_MAX).map(readFilter);
    const accounts = chain.machine
      .listProgramAccounts(readAddress(program))
      .filter((account) => filters.every((accepts) => accepts(account)));
    const keyed = encodeKeyed(chain, accounts, readAccountEncoding(config));
    return readFlag(config.withContext) ? withContext(chain, config, keyed) : keyed;
  },
  getMinimumBalanceForRentExemption(chain, [bytes]) {
    return chain.machine.rentExemption(readCount(bytes, ACCOUNT_BYTES_MAX));
  },
};

function encodeFound(chain: Chain, address: Address, encoding: AccountEncoding): unknown {
  const { machineNow } = chain;
  const account = machineNow.findAccount(address);
  return account === null ? null : encodeAccount(machineNow, account, encoding);
}

function encodeKeyed(chain: Chain, accounts: EncodedAccount[], encoding: AccountEncoding): unknown[] {
  return accounts.map((account) => ({ account: encodeAccount(chain.machine, account, encoding), pubkey: account.address }));
}

function readTokenFilter(chain: Chain, filter: Config): { program: Address; mint: Address | null } {
  if (filter.mint !== undefined) {
    const mint = readAddress(filter.mint);
    const account = chain.machine.findAccount(mint);
    if (account === null || !isMint(account)) throw invalidParams('Invalid param: could not find mint');
    return { program: account.programAddress, mint };
  }
  const program = readAddress(filter.programId);
  if (!isTokenProgram(program)) throw invalidParams('Invalid param: unrecognized Token program id');
  return { program, mint: null };
}

function readFilter(value: unknown): (account: EncodedAccount) => boolean {
  const filter = readConfig(value);
  if (filter.dataSize !== undefined) {
    const size = BigInt(readCount(filter.dataSize));
    return (account) => account.space === size;
  }
  if (filter.memcmp === undefined) throw invalidParams('Invalid params: a filter is `memcmp` or `dataSize`');
  const comparison = readConfig(filter.memcmp);
  const offset = readCount(comparison.offset);
  const bytes = readFilterBytes(comparison);
  return (account) => bytes.equals(Buffer.from(account.data.slice(offset, offset + bytes.length)));
}

function readFilterBytes(comparison: Config): Buffer {
  const encoding = readChoice(comparison.encoding, ['base58', 'base64'], 'base58');
  if (typeof comparison.bytes !== 'string') throw invalidParams('Invalid params: `memcmp.bytes` is a string');
  if (encoding === 'base64') return Buffer.from(comparison.bytes, 'base64');
  try {
    return Buffer.from(getBase58Encoder().encode(comparison.bytes));
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
}
