import { Memory } from '#core/isolate/memory.ts';
import type { Config } from './config.ts';

/** By the address of the chain that was asked. Of a deployment there is none, so its two clocks are one. */
const ahead = new Memory<string, number>(100);

/** How far business time is ahead of wall time, in milliseconds: as far as the local chain was moved on, when it was asked last. */
export const aheadMs = ({ LOCAL_CLOCK_URL: url }: Config): number => (url === undefined ? 0 : (ahead.get(url) ?? 0));

export const noteAhead = (url: string, ms: number): void => void ahead.set(url, ms);
