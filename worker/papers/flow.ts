import type { Canvas } from './canvas.ts';

/** What stands on one page: as high as it says, drawn from `top` down. Points. */
export interface Block {
  height: number;
  /** Above it, unless it is the first on its page. */
  gap?: number;
  /** A heading goes to the next page rather than end one. */
  isHeading?: boolean;
  /** Said again at the top of the next page if this block begins one. */
  repeats?: Block;
  draw: (canvas: Canvas, top: number) => void;
}

interface PlacedBlock {
  block: Block;
  top: number;
}

/** Blocks from `top` to `bottom` of each page, in their order. Pure. */
export function paginate(blocks: Block[], { top, bottom }: { top: number; bottom: number }): PlacedBlock[][] {
  const pages: PlacedBlock[][] = [[]];
  let y = top;
  const place = (block: Block): void => {
    y += pages.at(-1)!.length > 0 ? (block.gap ?? 0) : 0;
    pages.at(-1)!.push({ block, top: y });
    y += block.height;
  };
  for (const [index, block] of blocks.entries()) {
    const next = blocks[index + 1];
    const needed = block.isHeading && next ? block.height + (next.gap ?? 0) + next.height : block.height;
    if (pages.at(-1)!.length > 0 && y + (block.gap ?? 0) + needed > bottom) {
      pages.push([]);
      y = top;
      if (block.repeats) place(block.repeats);
    }
    place(block);
  }
  return pages;
}
