import { stripVTControlCharacters } from 'node:util';

interface RequestLine {
  method?: string;
  endpoint?: string;
  status?: number;
  ms?: number;
  code?: string;
  notes?: string[];
  job?: string;
  sweep?: string;
  deferred?: string;
  dead_letter?: unknown;
}

const QUIET_BLOCKS = /WARNING.*Scheduled Workers are not automatically triggered/;

/**
 * Turns wrangler's output into what matters: requests as short lines, errors in full, everything else dropped. Holds state,
 * because wrangler's errors are blocks of lines: from a line that says ERROR to the next one that begins something else.
 */
export function compactLog(): (line: string, stream: 'stdout' | 'stderr') => string | null {
  let inQuietBlock = false;
  return (raw, stream) => {
    const line = stripVTControlCharacters(raw);
    if (line.startsWith('{"request_id"')) return describeRequest(line);
    if (stream === 'stdout') return /\[ERROR\]|^\s*Uncaught |⎔ Reloading/.test(line) ? line : null;
    if (/^\S/.test(line)) inQuietBlock = QUIET_BLOCKS.test(line);
    return inQuietBlock || line.trim() === '' ? null : line;
  };
}

function describeRequest(text: string): string | null {
  let line: RequestLine;
  try {
    line = JSON.parse(text) as RequestLine;
  } catch {
    return text;
  }
  const reasons = [line.code, ...(line.notes ?? []), line.deferred].filter((reason) => reason !== undefined).join('; ');
  if (line.dead_letter !== undefined) return `  dead letter ${JSON.stringify(line.dead_letter)}`;
  if (line.job ?? line.sweep) return reasons ? `  ${line.job ?? line.sweep}: ${reasons}` : null;
  // The supervisor requests health every few seconds. Only failures are shown.
  if (line.endpoint?.endsWith('/health') && line.status === 200) return null;
  if (line.method === undefined) return reasons ? `  ${reasons}` : null;
  return `  ${line.method} ${line.endpoint} ${line.status} ${line.ms} ms${reasons ? ` (${reasons})` : ''}`;
}
