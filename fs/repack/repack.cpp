// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "exec/arena.h"
#include "exec/thread_pool.h"
#include "repack/file_keys.h"
#include "repack/output_file.h"
#include "repack/repack_table.h"
#include "repack/stopped.h"
#include "root_file.h"
#include "tfile/file.h"
#include "tfile/table_copy.h"
#include "vfs/chain_names.h"
#include "vfs/dataset.h"

namespace tfilefs {

using tfile::fail;
using tfile::KeyInfo;

namespace {

// What is encoded anew, where no compression is asked for and the tables change their format.
constexpr tfile::Compression kUsualCompression{tfile::Compression::Algorithm::zstd, 5};

Result<std::vector<ChainName>> files_of(const std::vector<std::string>& sources, const tfile::FarOptions& far) {
  std::vector<ChainName> files;
  for (const std::string& source : sources) {
    std::vector<ChainName> found;
    if (is_dataset(source)) {
      TRY(const Dataset dataset, read_dataset(source.substr(1)));
      const std::vector<DatasetSample>& samples = dataset.samples;
      if (samples.size() != 1)
        return fail(ErrorKind::invalid,
                    source + ": it has " + std::to_string(samples.size()) + " samples; a file is made of one");
      for (const ChainName& name : samples[0].files) {
        TRY(const std::vector<ChainName> each, chain_names(name, far));
        found.insert(found.end(), each.begin(), each.end());
      }
    } else {
      TRY(found, chain_names(source, far));
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) return fail(ErrorKind::not_found, "there is no file to read");
  return files;
}

class Repack {
 public:
  Repack(const RepackOptions& options, const RepackWatch& watch)
      : options_(options), watch_(watch), reader_(1), workers_(options.threads), arena_(options.threads) {}

  Result<RepackReport> run() {
    TRY(files_, files_of(options_.sources, options_.far));
    TRY_VOID(check_out());
    for (;;) {
      auto done = attempt();
      // A table that turned out not to be copied by unit is begun again, column by column.
      if (done || !again_) return done;
      again_ = false;
    }
  }

 private:
  Result<> check_out() const {
    struct stat out {};
    if (::stat(options_.out.c_str(), &out) != 0) return {};
    for (const ChainName& file : files_) {
      struct stat source {};
      if (::stat(file.file.c_str(), &source) == 0 && source.st_dev == out.st_dev && source.st_ino == out.st_ino)
        return fail(ErrorKind::invalid, options_.out + ": it is also read");
    }
    return {};
  }

  Result<RepackReport> attempt() {
    report_ = {};
    written_.clear();
    TRY(first_, open_root_file(files_.front().file, options_.far));
    TRY(FileKeys keys, keys_in(*first_));
    if (!options_.is_dry) {
      TRY(output_, OutputFile::make(options_.out, options_.replaces));
    }
    const std::string name = std::filesystem::path(options_.out).filename();
    TRY(writer_, tfile::FileWriter::create(name, compression_of_new()));
    report_.left_out = std::move(keys.left_out);
    TRY_VOID(writer_->take_classes(*first_));
    for (const KeyPlace& directory : keys.directories)
      TRY_VOID(writer_->make_directory(directory.path(), directory.info().datime, directory.info().title));
    for (const KeyPlace& object : keys.objects) TRY_VOID(copy_object(object));
    TRY_VOID(write_tables(keys.tables));
    TRY_VOID(publish());
    return std::move(report_);
  }

  tfile::Compression compression_of_new() const {
    if (options_.compression) return *options_.compression;
    return options_.format ? kUsualCompression : tfile::compression_of(first_->header().compress);
  }

  Result<> copy_object(const KeyPlace& object) {
    const KeyInfo& key = object.info();
    std::vector<std::byte> head(key.keylen);
    TRY_VOID(tfile::read_range(first_->source(), {key.seek, head.size()}, head));
    TRY(tfile::FileWriter::CopiedKey copied, writer_->copy_key(object.directory, head));
    ++report_.objects;
    if (!output_) return {};
    tfile::Buffer bytes(copied.head.size(), tfile::Use::passing);
    std::ranges::copy(copied.head, bytes.data());
    TRY_VOID(output_->writes().write(copied.address, std::move(bytes)));
    return output_->copy(first_->source(), {key.seek + head.size(), key.nbytes - head.size()},
                         copied.address + head.size());
  }

  Result<> write_tables(const std::vector<KeyPlace>& tables) {
    std::vector<const KeyPlace*> wanted;
    std::vector<std::string> names;
    for (const KeyPlace& table : tables) {
      names.emplace_back(table.info().name);
      if (is_wanted(table)) wanted.push_back(&table);
    }
    for (const std::string& pattern : options_.tables.idle(names))
      return fail(ErrorKind::not_found, pattern + ": no table of that name");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto progress = [&, i](double done) {
        if (watch_.progress) watch_.progress((static_cast<double>(i) + done) / static_cast<double>(wanted.size()));
      };
      TRY_VOID(write_table(*wanted[i], progress));
    }
    return {};
  }

  // A file may be named together with one of its tables: then that is the only one.
  bool is_wanted(const KeyPlace& table) const {
    if (!files_.front().table.empty()) return table.path() == files_.front().table;
    return options_.tables.takes(std::string(table.info().name));
  }

  std::string new_name(const KeyPlace& table) const {
    for (const auto& [old_path, name] : options_.renames) {
      if (old_path == table.path()) return name;
    }
    return std::string(table.info().name);
  }

  Result<> write_table(const KeyPlace& table, std::function<void(double)> progress) {
    const std::string path = table.path();
    if (table.info().format == tfile::TableFormat::rntuple) {  // one of a format before 1.0 cannot be read
      TRY(const auto outline, first_->outline(table.info()));
      if (!outline->reason.empty()) {
        report_.left_out.push_back(path + ": " + outline->reason);
        return {};
      }
    }
    TableRequest request{options_, files_, path, table.directory, new_name(table)};
    TableWork work{*writer_, output_.get(), reader_, workers_, arena_, watch_.stop, std::move(progress)};
    const bool by_unit = by_columns_.count(path) == 0 && may_go_by_unit(table.info());
    TRY(WrittenTable written,
        by_unit ? copy_table(request, table.info(), work) : convert_table(request, table.info(), work));
    if (written.needs_columns) {
      by_columns_.emplace(path, written.why);
      again_ = true;
      output_.reset();
      return fail(ErrorKind::unsupported, path + ": " + written.why);
    }
    if (const auto why = by_columns_.find(path); why != by_columns_.end() && !written.left_out.empty())
      report_.left_out.push_back(path + ": what columns do not show; it could not be copied as it is: " + why->second);
    for (const std::string& line : written.left_out) report_.left_out.push_back(path + ": " + line);
    if (!written.written) return {};
    written_.push_back({path, request.directory, request.name, std::move(written.kept)});
    report_.tables.push_back(std::move(written.report));
    return {};
  }

  bool may_go_by_unit(const KeyInfo& key) const {
    if (options_.format && *options_.format != key.format) return false;
    const bool whole =
        options_.columns.takes_all() && options_.cluster_bytes == 0 && !options_.entries && options_.selection.empty();
    return key.format == tfile::TableFormat::tree || whole;
  }

  Result<> publish() {
    TRY(const tfile::CommitPlan plan, writer_->plan(tfile::datime_of(std::time(nullptr))));
    report_.size = plan.size;
    TRY_VOID(not_stopped(watch_.stop));
    if (!output_) return {};
    TRY_VOID(output_->complete(plan));
    if (options_.verifies) TRY_VOID(verify());
    TRY_VOID(output_->publish());
    output_.reset();
    return {};
  }

  Result<> verify() {
    for (const Written& table : written_) {
      TableRequest request{options_, files_, table.path, table.directory, table.name};
      TableWork work{*writer_, output_.get(), reader_, workers_, arena_, watch_.stop, nullptr};
      TRY(const std::vector<std::string> left, verify_written(request, table.kept, output_->temporary_path(), work));
      report_.not_verified.insert(report_.not_verified.end(), left.begin(), left.end());
    }
    return {};
  }

  const RepackOptions& options_;
  const RepackWatch& watch_;
  ThreadPool reader_, workers_;
  Arena arena_;
  std::vector<ChainName> files_;
  std::map<std::string, std::string> by_columns_;  // paths of tables that cannot be copied by unit, and why
  struct Written {
    std::string path, directory, name;
    tfile::KeptEntries kept;
  };
  std::vector<Written> written_;
  bool again_ = false;
  std::shared_ptr<const tfile::File> first_;
  std::unique_ptr<OutputFile> output_;  // null: a dry run
  std::unique_ptr<tfile::FileWriter> writer_;
  RepackReport report_;
};

}  // namespace

Result<RepackReport> repack(const RepackOptions& options, const RepackWatch& watch) {
  return Repack(options, watch).run();
}

}  // namespace tfilefs
