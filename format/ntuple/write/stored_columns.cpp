// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/stored_columns.h"

#include "ntuple/page_encode.h"

namespace tfile {

std::vector<ColumnNumber> written_columns(const FieldNodes& made) {
  std::vector<ColumnNumber> written(made.encodings.size());
  for (ColumnNumber number = 0; number < made.places.size(); ++number) {
    if (made.places[number].representation == 0) written[made.places[number].column] = number;
  }
  return written;
}

Result<StoredColumn> stored_column(const FieldNodes& made, std::span<const ColumnNumber> written, ColumnId id) {
  const Column& column = made.columns[id];
  const FieldStream& stream = made.streams[column.stream];
  StoredColumn stored;
  if (stream.kind == FieldStream::Kind::ends) {
    stored.kind = StoredColumn::Kind::ends;
  } else if (stream.kind == FieldStream::Kind::variant) {
    stored.kind = column.role == Role::tags ? StoredColumn::Kind::tags : StoredColumn::Kind::index;
  } else if (stream.kind != FieldStream::Kind::numbers) {
    return fail(ErrorKind::unsupported, column.path + " is computed from other columns");
  }
  stored.number = written[stream.column];
  stored.encoding = made.encodings[stream.column].by_representation[0];
  stored.dtype = column.dtype;
  stored.per_item = stream.per_item;
  if (stored.kind == StoredColumn::Kind::numbers && !can_encode(stored.encoding, stored.dtype))
    return fail(ErrorKind::unsupported,
                column.path + ": its elements are stored in an encoding that cannot be written");
  return stored;
}

}  // namespace tfile
