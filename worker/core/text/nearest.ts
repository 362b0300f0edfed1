const DISTANCE_MAX = 3;

/** Known name with the smallest edit distance, if at most 3 and at most half the length of the input. Otherwise null. */
export function nearestOf(name: string, known: readonly string[]): string | null {
  let most = Math.min(DISTANCE_MAX, Math.floor(name.length / 2));
  let nearest: string | null = null;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most) continue;
    const distance = editDistance(name, candidate);
    if (distance > most) continue;
    nearest = candidate;
    most = distance - 1;
  }
  return nearest;
}

/** Items in order of the edit distance of their names. */
export const nearestFirst = <T>(name: string, items: readonly T[], nameOf: (item: T) => string): T[] =>
  items
    .map((item) => ({ item, distance: editDistance(name, nameOf(item)) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ item }) => item);

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const above = row;
    row = [line];
    for (let column = 1; column <= to.length; column++) {
      const exchanged = above[column - 1]! + (from[line - 1] === to[column - 1] ? 0 : 1);
      row.push(Math.min(exchanged, above[column]! + 1, row[column - 1]! + 1));
    }
  }
  return row[to.length]!;
}
