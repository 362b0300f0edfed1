import { Table } from '../../../parts/table.tsx';

export interface Day {
  date: string;
  confirmed: number;
  USDC: { net: string };
  SOL: { net: string };
}

const HEIGHT = 80;
const STEP = 10;
const BAR = 8;

/** Bars of one asset, a day each, and the same figures as a table. */
export function Chart({ asset, days }: { asset: 'USDC' | 'SOL'; days: Day[] }) {
  // For heights alone. The figures are texts of the API.
  const values = days.map((day) => Math.max(0, Number(day[asset].net)));
  const most = Math.max(...values, Number.MIN_VALUE);
  return (
    <>
      <svg
        class="chart"
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${asset} of each day, as in the table`}
      >
        {days.map((day, n) => {
          const height = (values[n]! / most) * HEIGHT;
          return (
            <rect x={n * STEP} y={HEIGHT - height} width={BAR} height={height}>
              <title>{`${day.date}: ${day[asset].net} ${asset}`}</title>
            </rect>
          );
        })}
      </svg>
      <p class="ends">
        <span>{days[0]?.date}</span>
        <span>{days.at(-1)?.date}</span>
      </p>
      <details>
        <summary>Figures of each day</summary>
        <Table
          caption={`${asset} after fees and refunds`}
          head={['Day', asset, 'Paid checkouts of both assets']}
          rows={days.map((day) => [day.date, day[asset].net, String(day.confirmed)])}
        />
      </details>
    </>
  );
}
