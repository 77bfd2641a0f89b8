# cmake -DPTX=<file> -DSUFFIX=<.compute_80.ptx> -DFOLDER=<folder> -P: one file a
# kernel of a module, <folder>/<kernel><suffix>, each with what stands before the
# module's first kernel.
file(READ ${PTX} text)
set(mark ".visible .entry ")
string(FIND "${text}" "${mark}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${PTX}: no kernel in it")
endif()
string(SUBSTRING "${text}" 0 ${at} prologue)
while(NOT at EQUAL -1)
  string(LENGTH "${mark}" skip)
  math(EXPR at "${at} + ${skip}")
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "${mark}" at)
  string(SUBSTRING "${text}" 0 ${at} kernel)
  string(REGEX MATCH "^[A-Za-z0-9_]+" name "${kernel}")
  file(WRITE ${FOLDER}/${name}${SUFFIX} "${prologue}${mark}${kernel}")
endwhile()
