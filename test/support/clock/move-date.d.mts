export declare function moveDate(clock: { readonly shift: number }): () => number;
