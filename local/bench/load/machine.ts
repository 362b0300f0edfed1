import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, type as systemName, totalmem } from 'node:os';
import { join } from 'node:path';

const PROBES = 200;
const PAGE_BYTES = 4096;

interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  system: string;
  node: string;
  loadBefore: number;
  /** Median milliseconds to sync 4 KiB to disk: the lower limit of a durable write. */
  fdatasyncMs: number;
}

export function describeMachine(directory: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()} ${release()}`,
    node: process.version,
    loadBefore: Number(loadavg()[0]!.toFixed(2)),
    fdatasyncMs: probeDisk(join(directory, 'probe')),
  };
}

function probeDisk(path: string): number {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(PAGE_BYTES, 1);
  const times = Array.from({ length: PROBES }, () => {
    const from = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - from;
  });
  closeSync(file);
  return Number(median(times).toFixed(3));
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
