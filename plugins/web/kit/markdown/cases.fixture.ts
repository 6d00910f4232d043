/** Replies as models write them, by what is tricky in them. */
export const cases: Readonly<Record<string, string>> = {
  "emphasis beside Han, kana and Hangul": `这是**重点：**请注意

**注意（重要）**です

안녕**하세요(테스트)**입니다

请看https://example.com/路径，然后继续
`,
  "formulas of the high form within a line": `So $$x^2$$ it is.

\`\`\`python
print(1)
\`\`\`

And \\[a+b\\] too.

\`\`\`sh
echo $$
\`\`\`

It costs $$5.
`,
  "formulas in lines of their own": `$$
\\frac{\\sqrt{\\pi}}{2} = \\int_0^\\infty e^{-x^2}\\,dx
$$

$$
\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} \\sum_{i=1}^{n} i
$$
`,
  "sums of money beside formulas": `US$100–US$200, R$ 50 e R$ 60

$/PR is down but $/session is up.

Math: $E=mc^2$ and $\\$0.60$ each.
`,
  "tasks and a table from right to left": `- [ ] todo
- [x] done

| العمود | القيمة |
|---|---|
| أ | 1 |
`,
  "single and double tildes": `温度 10~20 度，湿度 30~40 度

range 5~10 kg or 12~15 kg

This is ~~gone~~.
`,
};
