export interface MoveReport {
  partition: string;
  from: string;
  to: string;
  state: string;
  table: string | null;
  rows_copied: number;
  refused_ms: number | null;
}

const RETRY_MS = 2_000;

/** Text of a step under way. */
const progressOf = ({ state, table, rows_copied: rows }: MoveReport): string =>
  `${state}${table === null ? '' : ` ${table}`}${rows > 0 ? `, ${rows} rows copied` : ''}`;

/**
 * `npm run admin -- partitions move|cancel`: asks until the move is done, and prints each step. A call that fails is repeated, because the
 * service continues where it ended.
 */
export async function followMove(request: () => Promise<MoveReport>, waitMs = RETRY_MS): Promise<boolean> {
  let shown = '';
  for (let failures = 0; ; ) {
    let report: MoveReport;
    try {
      report = await request();
      failures = 0;
    } catch (error) {
      // Anything but an outage needs a person.
      if (++failures > 5 || !(error instanceof Error) || !/^5\d\d |fetch failed/.test(error.message)) throw error;
      console.log(`${error.message}; trying again`);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      continue;
    }
    const progress = progressOf(report);
    if (progress !== shown) console.log(progress);
    shown = progress;
    if (report.state !== 'done') continue;
    const refused = report.refused_ms === null ? '' : `, writes were refused for ${(report.refused_ms / 1000).toFixed(1)} s`;
    console.log(`${report.partition} is in ${report.to}${refused}. Deploy PARTITIONS with it, then MOVES may be off.`);
    return true;
  }
}
