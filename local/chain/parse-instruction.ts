import { type Address, getAddressDecoder, getBase58Decoder } from '@solana/kit';
import type { CompiledInstruction } from './ledger/decode-transaction.ts';
import { decodeText, isMemoProgram } from './ledger/memos.ts';
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM } from './ledger/network.ts';
import { isTokenProgram, toUiAmount } from './ledger/tokens.ts';

interface ParsedInstruction {
  type: string;
  info: Record<string, unknown>;
}

/** Encodes an instruction for `jsonParsed`: parsed for known programs, raw for others. */
export function parseInstruction(instruction: CompiledInstruction, stackHeight: number, keys: readonly Address[]): Record<string, unknown> {
  const programId = keys[instruction.programIdIndex]!;
  const accounts = instruction.accounts.map((index) => keys[index]!);
  const data = Uint8Array.from(instruction.data);
  const recognised = parseKnown(programId, accounts, data);
  if (recognised !== null) return { ...recognised, programId, stackHeight };
  return { accounts, data: getBase58Decoder().decode(data), programId, stackHeight };
}

function parseKnown(programId: Address, accounts: Address[], data: Uint8Array): { program: string; parsed: unknown } | null {
  if (isMemoProgram(programId)) {
    const parsed = decodeText(data);
    return parsed === null ? null : { program: 'spl-memo', parsed };
  }
  if (isTokenProgram(programId)) {
    const parsed = parseTokenInstruction(accounts, data);
    // Nodes report both token programs under the older one's name.
    return parsed === null ? null : { program: 'spl-token', parsed };
  }
  if (programId === ASSOCIATED_TOKEN_PROGRAM) {
    const parsed = parseAssociatedTokenInstruction(accounts, data);
    return parsed === null ? null : { program: 'spl-associated-token-account', parsed };
  }
  if (programId === SYSTEM_PROGRAM) {
    const parsed = parseSystemInstruction(accounts, data);
    return parsed === null ? null : { program: 'system', parsed };
  }
  return null;
}

function parseAssociatedTokenInstruction(accounts: Address[], data: Uint8Array): ParsedInstruction | null {
  const type = data.length === 0 || data[0] === 0 ? 'create' : data[0] === 1 ? 'createIdempotent' : null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  if (type === null || tokenProgram === undefined) return null;
  return { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } };
}

function parseSystemInstruction(accounts: Address[], data: Uint8Array): ParsedInstruction | null {
  if (data.length < 4) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [first, second] = accounts;
  const tag = view.getUint32(0, true);
  if (tag === 0 && data.length >= 52 && second !== undefined) {
    const owner = getAddressDecoder().decode(data, 20);
    const info = { source: first, newAccount: second, lamports: view.getBigUint64(4, true), space: view.getBigUint64(12, true), owner };
    return { type: 'createAccount', info };
  }
  if (tag === 1 && data.length >= 36 && first !== undefined) {
    return { type: 'assign', info: { account: first, owner: getAddressDecoder().decode(data, 4) } };
  }
  if (tag === 2 && data.length >= 12 && second !== undefined) {
    return { type: 'transfer', info: { source: first, destination: second, lamports: view.getBigUint64(4, true) } };
  }
  if (tag === 8 && data.length >= 12 && first !== undefined) {
    return { type: 'allocate', info: { account: first, space: view.getBigUint64(4, true) } };
  }
  return null;
}

type Amount = 'amount' | 'tokenAmount' | 'none';

/** Layout of a token instruction: named accounts, the owner after them, the amount after the tag. */
interface Layout {
  type: string;
  accounts: readonly string[];
  owner?: string;
  amount?: Amount;
}

const LAYOUTS: Readonly<Record<number, Layout>> = {
  3: { type: 'transfer', accounts: ['source', 'destination'], owner: 'authority', amount: 'amount' },
  4: { type: 'approve', accounts: ['source', 'delegate'], owner: 'owner', amount: 'amount' },
  5: { type: 'revoke', accounts: ['source'], owner: 'owner' },
  7: { type: 'mintTo', accounts: ['mint', 'account'], owner: 'mintAuthority', amount: 'amount' },
  8: { type: 'burn', accounts: ['account', 'mint'], owner: 'authority', amount: 'amount' },
  9: { type: 'closeAccount', accounts: ['account', 'destination'], owner: 'owner' },
  10: { type: 'freezeAccount', accounts: ['account', 'mint'], owner: 'freezeAuthority' },
  11: { type: 'thawAccount', accounts: ['account', 'mint'], owner: 'freezeAuthority' },
  12: { type: 'transferChecked', accounts: ['source', 'mint', 'destination'], owner: 'authority', amount: 'tokenAmount' },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate'], owner: 'owner', amount: 'tokenAmount' },
  14: { type: 'mintToChecked', accounts: ['mint', 'account'], owner: 'mintAuthority', amount: 'tokenAmount' },
  15: { type: 'burnChecked', accounts: ['account', 'mint'], owner: 'authority', amount: 'tokenAmount' },
  17: { type: 'syncNative', accounts: ['account'] },
  22: { type: 'initializeImmutableOwner', accounts: ['account'] },
};

function parseTokenInstruction(accounts: readonly Address[], data: Uint8Array): ParsedInstruction | null {
  const layout = LAYOUTS[data[0] ?? -1];
  return layout === undefined ? parseInitialization(accounts, data) : parseByLayout(layout, accounts, data);
}

function parseByLayout(layout: Layout, accounts: readonly Address[], data: Uint8Array): ParsedInstruction | null {
  const named = layout.accounts.length;
  if (accounts.length < named + (layout.owner === undefined ? 0 : 1)) return null;
  const info: Record<string, unknown> = Object.fromEntries(layout.accounts.map((name, index) => [name, accounts[index]]));
  if (layout.owner !== undefined) Object.assign(info, nameOwner(layout.owner, accounts.slice(named)));
  const amount = readAmount(layout.amount ?? 'none', data);
  return amount === null ? null : { type: layout.type, info: { ...info, ...amount } };
}

// Cosigners of a multisig and appended references have the same layout. A node treats both as cosigners.
function nameOwner(owner: string, [authority, ...signers]: readonly Address[]): Record<string, unknown> {
  if (signers.length === 0) return { [owner]: authority };
  return { [`multisig${owner.charAt(0).toUpperCase()}${owner.slice(1)}`]: authority, signers };
}

function readAmount(kind: Amount, data: Uint8Array): Record<string, unknown> | null {
  if (kind === 'none') return {};
  if (data.length < (kind === 'amount' ? 9 : 10)) return null;
  const amount = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(1, true);
  return kind === 'amount' ? { amount: amount.toString() } : { tokenAmount: toUiAmount(amount, data[9]!) };
}

function parseInitialization(accounts: readonly Address[], data: Uint8Array): ParsedInstruction | null {
  const addresses = getAddressDecoder();
  const [account, mint] = accounts;
  if (account === undefined) return null;
  if (data[0] === 18 && data.length >= 33 && mint !== undefined) {
    return { type: 'initializeAccount3', info: { account, mint, owner: addresses.decode(data, 1) } };
  }
  if (data[0] === 20 && data.length >= 35) {
    const freeze = data[34] === 1 && data.length >= 67 ? { freezeAuthority: addresses.decode(data, 35) } : {};
    return { type: 'initializeMint2', info: { mint: account, decimals: data[1], mintAuthority: addresses.decode(data, 2), ...freeze } };
  }
  if (data[0] === 21) {
    const extensions = data[1] === 7 ? { extensionTypes: ['immutableOwner'] } : {};
    return { type: 'getAccountDataSize', info: { mint: account, ...extensions } };
  }
  return null;
}
