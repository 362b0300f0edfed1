import { getAddressEncoder } from '@solana/kit';
import type { Chain } from '../chain.ts';
import { readFault } from '../faults.ts';
import { invalidParams } from '../ledger/errors.ts';
import { LOOKUP_TABLE_PROGRAM, SLOT_MS, U64_MAX, USDC_MINT } from '../ledger/network.ts';
import { findDecimals, findTokenAddress, fundToken, putMint } from '../ledger/tokens.ts';
import { readAddress, readAddresses, readChoice, readConfig, readCount, readList, readSignature, readU64 } from '../params.ts';
import type { Method } from './methods-cluster.ts';

const WARP_SECONDS_MAX = 10 * 366 * 86_400;
const TABLE_ADDRESSES_MAX = 256;
const ACCOUNTS_MAX = 3_000;

/** Methods that no node has: funding, account writes, manual time, forks, faults. They are neither counted nor affected by faults. */
export const localMethods: Readonly<Record<string, Method>> = {
  async local_fundUsdc(chain, [first, amount]) {
    const owner = readAddress(first);
    const baseUnits = readU64(amount);
    const tokenAddress = await findTokenAddress(USDC_MINT, owner);
    fundToken(chain.machine, USDC_MINT, owner, tokenAddress, baseUnits);
    return tokenAddress;
  },
  async local_fundToken(chain, [first, second, amount, decimals]) {
    const mint = readAddress(first);
    const owner = readAddress(second);
    const baseUnits = readU64(amount);
    const tokenAddress = await findTokenAddress(mint, owner);
    if (findDecimals(chain.machine, mint) === null) putMint(chain.machine, mint, decimals === undefined ? 6 : readCount(decimals, 255));
    fundToken(chain.machine, mint, owner, tokenAddress, baseUnits);
    return tokenAddress;
  },
  local_fundSol(chain, [first, second]) {
    const owner = readAddress(first);
    const amount = readU64(second);
    const held = chain.machine.findAccount(owner)?.lamports ?? 0n;
    if (held + amount > U64_MAX) throw invalidParams('Invalid param: the balance would exceed 64 bits');
    return chain.addLamports(owner, amount);
  },
  local_putAccounts(chain, [first]) {
    const accounts = readList(first, ACCOUNTS_MAX).map((account) => {
      const [accountAddress, owner, data] = readList(account, 3);
      if (typeof data !== 'string') throw invalidParams('Invalid params: expected the data of an account in base64');
      return { accountAddress: readAddress(accountAddress), owner: readAddress(owner), data: Buffer.from(data, 'base64') };
    });
    for (const { accountAddress, owner, data } of accounts) chain.machine.putAccount(accountAddress, data, owner);
    return accounts.length;
  },
  local_setLookupTable(chain, [tableAddress, addresses]) {
    chain.machine.putAccount(readAddress(tableAddress), layOutTable(readAddresses(addresses, TABLE_ADDRESSES_MAX)), LOOKUP_TABLE_PROGRAM);
    return true;
  },
  local_warp(chain, [seconds]) {
    if (typeof seconds !== 'number' || !(seconds >= 0) || seconds > WARP_SECONDS_MAX) {
      throw invalidParams(`Invalid params: expected seconds from 0 to ${WARP_SECONDS_MAX}`);
    }
    chain.clock.advance(Math.round(seconds * 1_000));
    return readTime(chain);
  },
  local_mode(chain, [mode]) {
    if (mode === undefined) throw invalidParams('Invalid params: expected live or manual');
    chain.clock.setMode(readChoice(mode, ['live', 'manual'], 'live'));
    return readTime(chain);
  },
  local_slots(chain, [count]) {
    const slots = readCount(count, (WARP_SECONDS_MAX * 1_000) / SLOT_MS);
    if (chain.clock.mode !== 'manual') throw invalidParams('Invalid params: slots are moved by hand in manual mode only');
    chain.clock.advance(slots * SLOT_MS);
    return readTime(chain);
  },
  local_time: (chain) => readTime(chain),
  local_warped: (chain) => chain.clock.warpedMs,
  local_commitment(chain, [first]) {
    const config = readConfig(first);
    const { confirmedAfterSlots, finalizedAfterSlots } = chain.commitmentDepth;
    const confirmed = config.confirmedAfterSlots === undefined ? confirmedAfterSlots : readCount(config.confirmedAfterSlots);
    const finalized = config.finalizedAfterSlots === undefined ? finalizedAfterSlots : readCount(config.finalizedAfterSlots);
    if (finalized < confirmed) throw invalidParams('Invalid params: finalized cannot come before confirmed');
    chain.commitmentDepth = { confirmedAfterSlots: confirmed, finalizedAfterSlots: finalized };
    return chain.commitmentDepth;
  },
  local_fault(chain, [first], node) {
    const fault = readFault(first);
    if (fault.kind === 'vanish') chain.history.vanish(fault.signature!);
    else node.faults.add(fault);
    return { waiting: node.faults.count };
  },
  local_clearFaults(_chain, _params, node) {
    node.faults.clear();
    return true;
  },
  local_dropBlock(chain, [first]) {
    const slot = readCount(first, chain.clock.slot);
    chain.dropBlock(slot);
    return slot;
  },
  local_landAgain: (chain, [first]) => chain.landAgain(readSignature(first)),
  local_calls: (_chain, _params, node) => node.calls.toObject(),
  local_resetCalls(_chain, _params, node) {
    node.calls.reset();
    return true;
  },
};

function readTime(chain: Chain): { slot: number; unixTimestamp: number } {
  return { slot: chain.clock.slot, unixTimestamp: chain.clock.unixTimestamp };
}

/** Encodes a lookup table without deactivation or authority, extended in slot 0. */
function layOutTable(addresses: ReturnType<typeof readAddresses>): Uint8Array {
  const data = Buffer.alloc(56 + 32 * addresses.length);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(U64_MAX, 4);
  addresses.forEach((address, index) => {
    data.set(getAddressEncoder().encode(address), 56 + 32 * index);
  });
  return Uint8Array.from(data);
}
