import { Memory } from '#core/isolate/memory.ts';
import type { Config } from './config.ts';

/** Offsets by address of the local chain. Empty on deployments, so both clocks are equal. */
const ahead = new Memory<string, number>(100);

/** Offset of business time from wall time in milliseconds, as last read from the local chain. */
export const aheadMs = ({ LOCAL_CLOCK_URL: url }: Config): number => (url === undefined ? 0 : (ahead.get(url) ?? 0));

export const noteAhead = (url: string, ms: number): void => void ahead.set(url, ms);
