import type { Canvas } from './canvas.ts';

/** Block of a page, drawn from `top` down, in points. */
export interface Block {
  height: number;
  /** Space above, unless the block is the first of its page. */
  gap?: number;
  /** A heading never ends a page. */
  isHeading?: boolean;
  repeats?: Block;
  draw: (canvas: Canvas, top: number) => void;
}

interface PositionedBlock {
  block: Block;
  top: number;
}

export function paginate(blocks: Block[], { top, bottom }: { top: number; bottom: number }): PositionedBlock[][] {
  const pages: PositionedBlock[][] = [[]];
  let y = top;
  const append = (block: Block): void => {
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
      if (block.repeats) append(block.repeats);
    }
    append(block);
  }
  return pages;
}
