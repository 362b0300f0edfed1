import type { Child } from 'hono/jsx';

export interface TableTerms {
  caption: string;
  head: string[];
  /** Cells of each row. The first one names it. */
  rows: Child[][];
}

/** Table that a narrow screen shows as a list, in which each cell has the name of its column. */
export const Table = ({ caption, head, rows }: TableTerms) => (
  <section class="frame" aria-label={caption} tabindex={0}>
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells]) => (
          <tr>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              <td data-name={head[index + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
