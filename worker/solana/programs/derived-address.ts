import { type Address, getAddressDecoder, getAddressEncoder, type ReadonlyUint8Array } from '@solana/kit';
import { isOnCurve, sha256 } from '#core/crypto.ts';
import { base58, utf8 } from '#core/encoding.ts';
import { Memory } from '#core/isolate/memory.ts';

/** An address no private key exists for, and the byte that pushed it off the curve. */
export interface DerivedAddress {
  address: Address;
  bump: number;
}

type Seeds = readonly ReadonlyUint8Array[];

const MARKER = utf8('ProgramDerivedAddress');
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

/** The bytes of an address, as a seed takes them. */
export const addressSeed = (address: Address): ReadonlyUint8Array => getAddressEncoder().encode(address);

/** A u64 as eight little-endian bytes, as a seed takes them. */
export function u64Seed(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

/** Those of this isolate that were derived lately: each costs about half a millisecond, and who looks at an account also names it. */
const derived = new Memory<string, DerivedAddress>(2_000);

/** The program-derived address of the seeds, with the highest bump that yields one. (Solana runtime, `find_program_address`) */
export function findDerivedAddress(program: Address, seeds: Seeds): DerivedAddress {
  const key = `${program} ${seeds.map((seed) => base58.encode(Uint8Array.from(seed))).join()}`;
  const found = derived.get(key) ?? searchAddress(program, seeds);
  derived.set(key, found);
  return found;
}

function searchAddress(program: Address, seeds: Seeds): DerivedAddress {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const address = deriveAddress(program, seeds, bump);
    if (address !== null) return { address, bump };
  }
  throw new Error('no bump takes these seeds off the curve');
}

/** The address of the seeds with a given bump; null where that one lies on the curve. (Solana runtime, `create_program_address`) */
export function deriveAddress(program: Address, seeds: Seeds, bump: number): Address | null {
  const parts = [...seeds, Uint8Array.of(bump), addressSeed(program), MARKER];
  const hash = sha256(Uint8Array.from(parts.flatMap((part) => [...part])));
  return isOnCurve(hash) ? null : getAddressDecoder().decode(hash);
}

/** Where an owner, a wallet or a program's account alike, holds a mint by default. */
export const associatedTokenAddress = (owner: Address, mint: Address, tokenProgram: Address): Address =>
  findDerivedAddress(ASSOCIATED_TOKEN_PROGRAM, [addressSeed(owner), addressSeed(tokenProgram), addressSeed(mint)]).address;

/** The account that signs a program's calls to itself which carry its events. */
export const eventAuthorityOf = (program: Address): Address => findDerivedAddress(program, [utf8('event_authority')]).address;
